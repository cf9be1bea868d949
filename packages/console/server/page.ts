import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

/** Nothing but what the page itself ships; inline styles because charts and tables size their parts. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Where the built page lies: beside the built server, or in the package's `dist` while developing. */
function pageDir(): string | undefined {
  const places = ['../web/', '../dist/web/'].map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return places.find((place) => existsSync(`${place}index.html`) && existsSync(`${place}assets`))
}

/** Serves the page: its files, and its first page for every address that is a view. */
export async function pageRoutes(app: FastifyInstance): Promise<void> {
  const root = pageDir()
  if (root === undefined) {
    app.get('/', (_request, reply) =>
      reply.code(503).type('text/plain').send('The page is not built. Run: npm run build\n'),
    )
    return
  }
  await app.register(fastifyStatic, {
    root,
    wildcard: false,
    setHeaders: (response, path) => {
      response.header('content-security-policy', POLICY)
      // Files below assets/ carry a hash of their content in the name.
      response.header('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
  for (const view of ['/fabric', '/fabric/*', '/nodes/*', '/explore', '/sources', '/sources/*', '/settings']) {
    app.get(view, (_request, reply) => reply.sendFile('index.html'))
  }
}
