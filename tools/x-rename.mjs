// node rename.mjs list.txt ; each line: file symbol newName   or   file Type.member newName   (run in the worktree root, Node 24)
import ts from 'typescript'; import fs from 'node:fs'; import path from 'node:path'; import {execSync} from 'node:child_process';
const root=process.cwd();
const files=execSync('git ls-files "*.ts"',{encoding:'utf8',maxBuffer:1e8}).trim().split('\n').map(f=>path.join(root,f));
const texts=new Map(),vers=new Map();
const read=f=>{if(!texts.has(f)&&fs.existsSync(f))texts.set(f,fs.readFileSync(f,'utf8'));return texts.get(f)};
const opts=ts.parseJsonConfigFileContent(ts.readConfigFile('tsconfig.json',ts.sys.readFile).config,ts.sys,root).options;
const host={getScriptFileNames:()=>files,getScriptVersion:f=>String(vers.get(f)??0),getScriptSnapshot:f=>{const t=read(f);return t===undefined?undefined:ts.ScriptSnapshot.fromString(t)},getCurrentDirectory:()=>root,getCompilationSettings:()=>opts,getDefaultLibFileName:o=>ts.getDefaultLibFilePath(o),fileExists:ts.sys.fileExists,readFile:ts.sys.readFile,readDirectory:ts.sys.readDirectory,directoryExists:ts.sys.directoryExists,getDirectories:ts.sys.getDirectories,realpath:ts.sys.realpath};
const ls=ts.createLanguageService(host,ts.createDocumentRegistry());
const changed=new Set();
for(const line of fs.readFileSync(process.argv[2],'utf8').split('\n')){const [f,sym,nw]=line.trim().split(/\s+/);if(!nw||line.startsWith('#'))continue;
 const file=path.join(root,f);const sf=ls.getProgram().getSourceFile(file);if(!sf){console.error('no file',f);continue}
 let pos=-1;const [a,b]=sym.split('.');
 const visit=(n,inside)=>{const nm=n.name&&ts.isIdentifier(n.name)?n.name.text:n.name&&ts.isPrivateIdentifier(n.name)?n.name.text:null;
  if(pos<0&&nm){if(!b&&nm===a)pos=n.name.getStart(sf);else if(b&&inside&&nm===b)pos=n.name.getStart(sf)}
  ts.forEachChild(n,c=>visit(c,inside||nm===a))};visit(sf,false);
 if(pos<0){console.error('no symbol',f,sym);continue}
 const locs=ls.findRenameLocations(file,pos,false,false,{providePrefixAndSuffixTextForRename:true})??[];
 const by=new Map();for(const l of locs){if(l.fileName.includes('node_modules'))continue;(by.get(l.fileName)??by.set(l.fileName,[]).get(l.fileName)).push(l)}
 for(const [fn,ll] of by){let t=read(fn);ll.sort((x,y)=>y.textSpan.start-x.textSpan.start);for(const l of ll)t=t.slice(0,l.textSpan.start)+(l.prefixText&&!/ as $/.test(l.prefixText)?l.prefixText:'')+nw+(l.suffixText&&!/^ as /.test(l.suffixText)?l.suffixText:'')+t.slice(l.textSpan.start+l.textSpan.length);
  texts.set(fn,t);vers.set(fn,(vers.get(fn)??0)+1);changed.add(fn)}
 console.log(sym,'->',nw,locs.length,'places')}
for(const f of changed)fs.writeFileSync(f,texts.get(f));
