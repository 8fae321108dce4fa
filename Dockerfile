# One image for all four services; the command selects the service. The console and the programs are built with packages
# that the image does not contain.
FROM node:24-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY cli/package.json cli/
COPY clients/typescript/package.json clients/typescript/
COPY console/package.json console/
COPY services/api/package.json services/api/
COPY services/fanout/package.json services/fanout/
COPY services/notifier/package.json services/notifier/
COPY services/retention/package.json services/retention/
COPY shared/package.json shared/
COPY simulators/package.json simulators/
COPY tools/package.json tools/

FROM manifests AS build
RUN npm ci --omit=dev --ignore-scripts
COPY tsconfig.json ./
COPY tools/build tools/build
COPY console console
COPY shared shared
COPY simulators simulators
COPY services services
COPY cli cli
COPY clients clients
RUN node tools/build/main.ts

FROM manifests AS packages
# Omits optional packages, which contain a Node binary that the image already has. No package needs an install script.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --workspace=@tocsin/api --workspace=@tocsin/fanout \
  --workspace=@tocsin/notifier --workspace=@tocsin/retention --workspace=@tocsin/cli --workspace=@tocsin/shared \
  --workspace=@tocsin/simulators

FROM node:24-slim
ENV NODE_ENV=production NODE_OPTIONS=--disable-warning=TimeoutNegativeWarning HOST=0.0.0.0 DATA_DIR=/data
# Processes load compiled code, without types, from here.
ENV NODE_COMPILE_CACHE=/app/node_modules/.cache/tocsin
WORKDIR /app
# In the image, the runtime user owns only the data directory.
RUN mkdir /data && chown node:node /data
COPY --from=packages /app/node_modules node_modules
COPY package.json package-lock.json ./
COPY shared shared
COPY simulators simulators
COPY services services
COPY cli cli
COPY clients clients
COPY --from=build /app/console/dist console/dist
# Without a build of exactly these sources, the programs run from the sources.
COPY --from=build /app/dist dist
# npm links only files that exist, and cli was not there yet. For `npx tocsin` in a container.
RUN ln -s ../@tocsin/cli/main.ts node_modules/.bin/tocsin
# Node keeps a cache per user, so the runtime user fills it; afterwards only root can write it.
RUN mkdir -p -m 777 "$NODE_COMPILE_CACHE"
USER node
RUN node --eval "for (const file of fs.globSync('/app/dist/*/{start,open}-*.js')) import(file)"
USER root
RUN chown -R root:root "$NODE_COMPILE_CACHE" && chmod -R u=rwX,go=rX "$NODE_COMPILE_CACHE"
USER node
EXPOSE 8080
# Checks that the process responds; an orchestrator may replace a container that does not. /health/ready also checks the
# engines.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.METRICS_PORT || process.env.PORT || 8080) + '/health/live').then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--min-semi-space-size=16", "services/api/main.ts"]
