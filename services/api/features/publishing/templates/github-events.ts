import type { Priority } from '@tocsin/shared/domain/messages/message.ts';
import { z } from 'zod';
import { labelled } from './rendered-message.ts';

/** The content of an event, without repository and sender. */
export interface EventText {
  readonly title: string;
  readonly lines: readonly (string | undefined)[];
  /** A longer user text below the lines. */
  readonly body?: string | null | undefined;
  readonly priority?: Priority;
  /** The result or action, as a tag. */
  readonly outcome?: string | null | undefined;
}

/**
 * A kind of event, the payload keys that identify it without a header (empty: only the header does), and its content.
 */
export interface GithubEvent {
  readonly name: string;
  readonly keys: readonly string[];
  readonly schema: z.ZodType;
  // oxlint-disable-next-line typescript/no-explicit-any -- `event` ties it to the schema
  readonly say: (payload: any) => EventText;
}

function event<S extends z.ZodType>(
  name: string,
  keys: readonly string[],
  of: { schema: S; say: (payload: z.output<S>) => EventText },
): GithubEvent {
  return { name, keys, ...of };
}

const text = z.string().nullish();
const user = z.object({ login: z.string() }).nullish();
const numbered = z.object({ number: z.number(), title: z.string(), html_url: text, body: text, user });
const comment = z.object({ html_url: text, body: text, user });
const run = z.object({
  name: text,
  html_url: text,
  status: text,
  conclusion: text,
  head_branch: text,
  event: text,
  display_title: text,
});
const ref = z.object({ ref: z.string(), ref_type: text });

const failures: ReadonlySet<string> = new Set(['failure', 'timed_out', 'startup_failure', 'error', 'action_required']);

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).replaceAll('_', ' ');
const branchOf = (name: string): string => name.replace(/^refs\/(?:heads|tags)\//, '');

function runText(kind: string, one: z.output<typeof run>, action: string): EventText {
  const outcome = one.conclusion ?? one.status ?? action;
  const isFailed = failures.has(outcome);
  const name = one.name === undefined || one.name === null || one.name === '' ? '' : ` ${one.name}`;
  return {
    title: `${isFailed ? '❌' : outcome === 'success' ? '✅' : '⚙️'} ${kind}${name}: ${outcome.replaceAll('_', ' ')}`,
    lines: [
      labelled('Branch', one.head_branch),
      labelled('For', one.display_title),
      labelled('Triggered by', one.event),
      labelled(kind, one.html_url),
    ],
    priority: isFailed ? 4 : 3,
    outcome,
  };
}

function commentText(on: string, made: z.output<typeof comment>, action: string): EventText {
  const what = action === 'created' ? 'New comment' : `Comment ${action}`;
  return {
    title: `💬 ${what} on ${on}`,
    lines: [labelled('By', made.user?.login), labelled('Comment', made.html_url)],
    body: made.body,
    outcome: action,
  };
}

const securityAlert = z.object({
  action: z.string(),
  alert: z.object({
    html_url: text,
    secret_type_display_name: text,
    security_advisory: z.object({ summary: text, severity: text }).nullish(),
    rule: z.object({ description: text, security_severity_level: text }).nullish(),
  }),
});

function securityAlertText({ action: done, alert }: z.output<typeof securityAlert>): EventText {
  const severity = alert.security_advisory?.severity ?? alert.rule?.security_severity_level;
  const about = alert.security_advisory?.summary ?? alert.rule?.description ?? alert.secret_type_display_name;
  const isNew = done === 'created' || done === 'reopened' || done === 'reintroduced';
  return {
    title: `🛡️ Security alert ${done.replaceAll('_', ' ')}${about ? `: ${about}` : ''}`,
    lines: [labelled('Severity', severity), labelled('Alert', alert.html_url)],
    priority: !isNew ? 3 : severity === 'critical' ? 5 : 4,
    outcome: severity ?? done,
  };
}

const on = ({ number, title }: { number: number; title: string }): string => `#${number}: ${title}`;
const action = z.string();

/** Events with specific texts, those with more keys first: without a header the keys identify the event. */
export const githubEvents: readonly GithubEvent[] = [
  event('ping', ['zen'], {
    schema: z.object({ zen: z.string() }),
    say: ({ zen }) => ({ title: '🔔 Webhook connected', lines: [zen] }),
  }),
  event('push', ['ref', 'commits'], {
    schema: z.object({
      ref: z.string(),
      compare: text,
      deleted: z.boolean().nullish(),
      forced: z.boolean().nullish(),
      pusher: z.object({ name: text }).nullish(),
      commits: z.array(
        z.object({ id: z.string(), message: z.string(), author: z.object({ name: text, username: text }).nullish() }),
      ),
    }),
    say: ({ ref: name, commits, deleted, forced, pusher, compare }) => ({
      title:
        deleted === true
          ? `🗑️ ${branchOf(name)} deleted`
          : `⬆️ ${commits.length} commit${commits.length === 1 ? '' : 's'} ${forced === true ? 'force-pushed' : 'pushed'} to ${branchOf(name)}`,
      lines: [
        labelled('By', pusher?.name),
        labelled('Changes', compare),
        ...commits.map(
          ({ id, message, author }) =>
            `${id.slice(0, 7)} ${message.split('\n')[0]}${author?.name ? ` (${author.name})` : ''}`,
        ),
      ],
    }),
  }),
  event('workflow_run', ['workflow_run'], {
    schema: z.object({ action, workflow_run: run, workflow: z.object({ name: text }).nullish() }),
    say: (payload) =>
      runText(
        'Workflow',
        { ...payload.workflow_run, name: payload.workflow_run.name || payload.workflow?.name },
        payload.action,
      ),
  }),
  event('workflow_job', ['workflow_job'], {
    schema: z.object({ action, workflow_job: run }),
    say: (payload) => runText('Job', payload.workflow_job, payload.action),
  }),
  event('check_run', ['check_run'], {
    schema: z.object({ action, check_run: run }),
    say: (payload) => runText('Check', payload.check_run, payload.action),
  }),
  event('check_suite', ['check_suite'], {
    schema: z.object({ action, check_suite: run }),
    say: (payload) => runText('Checks', payload.check_suite, payload.action),
  }),
  event('deployment_status', ['deployment_status'], {
    schema: z.object({
      deployment_status: z.object({ state: z.string(), environment: text, target_url: text, description: text }),
    }),
    say: ({ deployment_status: { state, environment, target_url, description } }) => ({
      ...runText('Deployment', { name: environment, conclusion: state, html_url: target_url }, state),
      body: description,
    }),
  }),
  event('release', ['release'], {
    schema: z.object({
      action,
      release: z.object({
        tag_name: z.string(),
        name: text,
        html_url: text,
        body: text,
        prerelease: z.boolean().nullish(),
      }),
    }),
    say: (payload) => ({
      title: `🏷️ ${payload.release.prerelease === true ? 'Pre-release' : 'Release'} ${payload.action}: ${payload.release.name || payload.release.tag_name}`,
      lines: [labelled('Tag', payload.release.tag_name), labelled('Release', payload.release.html_url)],
      body: payload.release.body,
      outcome: payload.action,
    }),
  }),
  event('pull_request_review', ['pull_request', 'review'], {
    schema: z.object({ action, pull_request: numbered, review: comment.extend({ state: text }) }),
    say: ({ pull_request, review, action: done }) => ({
      title: `👓 Review ${(review.state ?? done).replaceAll('_', ' ')}: ${on(pull_request)}`,
      lines: [labelled('By', review.user?.login), labelled('Review', review.html_url)],
      body: review.body,
      outcome: review.state ?? done,
    }),
  }),
  event('pull_request_review_comment', ['pull_request', 'comment'], {
    schema: z.object({ action, pull_request: numbered, comment }),
    say: (payload) => commentText(on(payload.pull_request), payload.comment, payload.action),
  }),
  event('pull_request', ['pull_request'], {
    schema: z.object({
      action,
      pull_request: numbered.extend({
        merged: z.boolean().nullish(),
        head: z.object({ ref: z.string() }).nullish(),
        base: z.object({ ref: z.string() }).nullish(),
      }),
    }),
    say: ({ pull_request: request, action: done }) => {
      const outcome = done === 'closed' && request.merged === true ? 'merged' : done;
      const branches = request.head && request.base ? `${request.head.ref} → ${request.base.ref}` : undefined;
      return {
        title: `🔀 Pull request ${outcome.replaceAll('_', ' ')}: ${on(request)}`,
        lines: [
          labelled('Branch', branches),
          labelled('Author', request.user?.login),
          labelled('Pull request', request.html_url),
        ],
        body: request.body,
        outcome,
      };
    },
  }),
  event('issue_comment', ['issue', 'comment'], {
    schema: z.object({ action, issue: numbered, comment }),
    say: (payload) => commentText(on(payload.issue), payload.comment, payload.action),
  }),
  event('issues', ['issue'], {
    schema: z.object({ action, issue: numbered }),
    say: ({ issue, action: done }) => ({
      title: `🐛 Issue ${done.replaceAll('_', ' ')}: ${on(issue)}`,
      lines: [labelled('Author', issue.user?.login), labelled('Issue', issue.html_url)],
      body: issue.body,
      outcome: done,
    }),
  }),
  event('discussion_comment', ['discussion', 'comment'], {
    schema: z.object({ action, discussion: numbered, comment }),
    say: (payload) => commentText(on(payload.discussion), payload.comment, payload.action),
  }),
  event('discussion', ['discussion'], {
    schema: z.object({ action, discussion: numbered }),
    say: ({ discussion, action: done }) => ({
      title: `💡 Discussion ${done.replaceAll('_', ' ')}: ${on(discussion)}`,
      lines: [labelled('Author', discussion.user?.login), labelled('Discussion', discussion.html_url)],
      body: discussion.body,
      outcome: done,
    }),
  }),
  event('commit_comment', ['comment'], {
    schema: z.object({ action, comment: comment.extend({ commit_id: text }) }),
    say: (payload) =>
      commentText(payload.comment.commit_id?.slice(0, 7) ?? 'a commit', payload.comment, payload.action),
  }),
  event('fork', ['forkee'], {
    schema: z.object({ forkee: z.object({ full_name: z.string(), html_url: text }) }),
    say: ({ forkee }) => ({ title: `🍴 Forked to ${forkee.full_name}`, lines: [labelled('Fork', forkee.html_url)] }),
  }),
  event('star', ['starred_at'], {
    schema: z.object({ action }),
    say: ({ action: done }) => ({
      title: done === 'deleted' ? '⭐ Star removed' : '⭐ New star',
      lines: [],
      outcome: done,
    }),
  }),
  event('watch', [], { schema: z.object({}), say: () => ({ title: '👀 New watcher', lines: [] }) }),
  event('dependabot_alert', ['alert'], { schema: securityAlert, say: securityAlertText }),
  event('code_scanning_alert', [], { schema: securityAlert, say: securityAlertText }),
  event('secret_scanning_alert', [], { schema: securityAlert, say: securityAlertText }),
  event('create', ['ref_type', 'master_branch'], {
    schema: ref,
    say: ({ ref: name, ref_type }) => ({ title: `🌱 ${capital(ref_type ?? 'ref')} ${name} created`, lines: [] }),
  }),
  event('delete', ['ref_type'], {
    schema: ref,
    say: ({ ref: name, ref_type }) => ({ title: `🗑️ ${capital(ref_type ?? 'ref')} ${name} deleted`, lines: [] }),
  }),
];
