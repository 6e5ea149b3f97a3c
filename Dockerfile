# syntax=docker/dockerfile:1
# The service for production: an external PostgreSQL, no sandbox of EVM chains, no development tools.
# docs/deploy.md says how to build and run it.
ARG NODE_IMAGE=node:26.10.0-trixie-slim

# Everything that is copied from here is JavaScript, TypeScript and pages: the same for every platform.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /build
COPY . .
RUN npm ci --include=dev && node packages/web/build/main.ts

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS packages
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages packages
# Packages of the pages are in the built files, and those of the embedded database and of EVM chains are for development.
RUN npm ci --omit=dev --omit=optional --workspace @svc/server \
  && rm -rf node_modules/lucide-react node_modules/@base-ui node_modules/@floating-ui node_modules/@tanstack \
    node_modules/react node_modules/react-dom node_modules/uplot node_modules/papaparse node_modules/@nomicfoundation

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 SVC_DATA_DIR=/tmp/svc LOG_FORMAT=json
WORKDIR /app
COPY --from=packages /build/node_modules node_modules
COPY --from=build /build/package.json /build/package-lock.json ./
COPY --from=build /build/docs docs
COPY --from=build /build/contracts/compiled contracts/compiled
COPY --from=build /build/packages packages
# The user `node` by number, so that Kubernetes can see that it is not root. Nothing in the image belongs to it.
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node"]
CMD ["packages/server/src/main.ts"]
