import type { FastifyInstance } from 'fastify'

/** The routes of a server, to find the methods that an address takes. A route for every address does not count. */
export class RoutePatterns {
  readonly #routes: { readonly parts: readonly string[]; readonly methods: readonly string[] }[] = []

  /** @param app A server without routes so far. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      if (!/^\/?\*$/.test(url)) this.#routes.push({ parts: url.split('/'), methods: [method].flat() })
    })
  }

  /** The methods of the routes that match the path of an address. */
  methodsOf(path: string): ReadonlySet<string> {
    const asked = path.split('/')
    const isAt = (part: string, at: number) => part === asked[at] || (part.startsWith(':') && asked[at] !== '')
    const whole = this.#routes.filter(({ parts }) => parts.length === asked.length && parts.every(isAt))
    const isBelow = (parts: readonly string[]) =>
      parts.at(-1) === '*' && parts.length <= asked.length && parts.slice(0, -1).every(isAt)
    const found = whole.length > 0 ? whole : this.#routes.filter(({ parts }) => isBelow(parts))
    return new Set(found.flatMap(({ methods }) => methods))
  }
}
