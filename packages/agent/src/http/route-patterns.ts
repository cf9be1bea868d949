import type { FastifyInstance } from 'fastify'

/** The routes of a server, to find the methods that an address takes. Routes with a wildcard do not count. */
export class RoutePatterns {
  readonly #routes: { readonly parts: readonly string[]; readonly methods: readonly string[] }[] = []

  /** @param app A server without routes so far. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      if (!url.includes('*')) this.#routes.push({ parts: url.split('/'), methods: [method].flat() })
    })
  }

  /** The methods of the routes that match the path of an address. */
  methodsOf(path: string): ReadonlySet<string> {
    const asked = path.split('/')
    const isMatch = (parts: readonly string[]) =>
      parts.length === asked.length &&
      parts.every((part, at) => part === asked[at] || (part.startsWith(':') && asked[at] !== ''))
    return new Set(this.#routes.filter(({ parts }) => isMatch(parts)).flatMap(({ methods }) => methods))
  }
}
