import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { PAGE_DIRS } from './places.ts'

/**
 * Allows only files of the page itself. Inline styles are allowed, because charts and tables size their parts with
 * them.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The folder of the built page. */
function pageDir(): string | undefined {
  return PAGE_DIRS.find((place) => existsSync(`${place}index.html`) && existsSync(`${place}assets`))
}

/** Addresses of the views, as in `web/app.tsx`. A path below a view is no view unless the view has such paths. */
const VIEWS = [
  '/gpus',
  '/gpus/:device',
  '/apps',
  '/apps/:app/gpu',
  '/pods/:namespace/:pod',
  '/fabric',
  '/fabric/:device',
  '/fabric/:device/:port',
  '/host',
  '/pci/:device',
  '/entities',
  '/entities/:id',
  '/incidents',
  '/incidents/:id',
  '/explore',
  '/explorer',
  '/sources',
  '/sources/:name',
  '/explain',
  '/settings',
  '/troubleshooting',
] as const

/** All addresses of the page: its views, those of one node of a console, and the list of nodes. */
const ADDRESSES = [...VIEWS, '/nodes', '/nodes/:node', ...VIEWS.map((view) => `/nodes/:node${view}`)]

/** Whether an address belongs to the page, so that nothing else can be served there. */
export function isOfPage(path: string): boolean {
  const parts = path.split('/')
  const isView = (view: string): boolean => {
    const wanted = view.split('/')
    return wanted.length === parts.length && wanted.every((part, at) => part === parts[at] || part.startsWith(':'))
  }
  if (ADDRESSES.some(isView)) return true
  const root = pageDir()
  return parts[1] === 'assets' || (root !== undefined && existsSync(join(root, path)))
}

/**
 * Serves the page: its files, and its frame for every view. A browser gets the frame, with status 404, for unknown
 * addresses too.
 */
export async function pageRoutes(app: FastifyInstance): Promise<void> {
  const root = pageDir()
  if (root === undefined) {
    app.get('/', (_request, reply) =>
      reply.code(503).type('text/plain').send('The page is not built. Run: npm run build\n'),
    )
    return
  }
  // Loaded only by commands that serve the page.
  await app.register((await import('@fastify/static')).default, {
    root,
    wildcard: false,
    setHeaders: (response, path) => {
      response.header('content-security-policy', POLICY)
      // Files below assets/ carry a hash of their content in the name.
      response.header('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
  for (const view of ADDRESSES) app.get(view, (_request, reply) => reply.sendFile('index.html'))
  app.get('/*', (request, reply) => {
    // The frame shows that there is no such page. Programs get the usual error for unknown addresses.
    const isForPeople = request.headers.accept?.includes('text/html') === true && !request.url.startsWith('/api/')
    return isForPeople ? reply.code(404).sendFile('index.html') : reply.callNotFound()
  })
}
