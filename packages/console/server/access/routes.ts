import { SondeError } from '@sonde/sdk'
import type { SessionAnswer, UserIdentity, UserRole } from '@sonde/sdk/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as v from 'valibot'
import { type Access, type KnownAsker, peerAddress } from './access.ts'
import { mayAct } from './role.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The weakest role that may use the route. Default: `viewer` to read, `operator` to change. `null`: everybody. */
    readonly role?: UserRole | null
  }
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Routes that read with a body. */
const READS = new Set(['/api/v1/query', '/api/v1/nodes/:node/query'])
/** Routes whose answers last longer than a session may. */
const STREAM = /\/stream$/
const CSRF_HEADER = 'x-sonde-csrf'
const loginSchema = v.strictObject({ token: v.pipe(v.string(), v.minLength(1), v.maxLength(200)) })

const askers = new WeakMap<FastifyRequest, KnownAsker>()

/** The identity behind a request to the API. */
export function identityOf(request: FastifyRequest): UserIdentity {
  const found = askers.get(request)
  if (found === undefined) throw new Error('the request was not let in')
  return found.identity
}

/**
 * Lets a request in, or refuses it. Only the API is guarded: metrics, field sets and health are for scrapes and probes,
 * and the files of the page hold no data.
 *
 * @throws SondeError `ACC_LOGIN`, `ACC_TOKEN`, `ACC_WAIT`, `ACC_ROLE` or `ACC_CSRF`.
 */
export async function authorize(access: Access, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { routeOptions, raw, url } = request
  const isApi = (routeOptions.url ?? url).startsWith('/api/')
  const { role: stated } = routeOptions.config
  if (!isApi || stated === null) return
  const asker = await access.askerOf(raw)
  if (asker === undefined) {
    reply.header('www-authenticate', 'Bearer realm="sonde"')
    throw new SondeError('ACC_LOGIN', 'a login is needed; open the page, or send authorization: Bearer TOKEN')
  }
  const isChange = !SAFE.has(request.method) && !READS.has(routeOptions.url ?? '')
  const needed = stated ?? (isChange ? 'operator' : 'viewer')
  const { name, role } = asker.identity
  if (!mayAct(role, needed)) throw new SondeError('ACC_ROLE', `${name} is ${role}; this needs the role ${needed}`)
  // A page of another site cannot read the word, and a cookie of `SameSite=Strict` does not come with its requests.
  if (isChange && asker.session !== undefined && request.headers[CSRF_HEADER] !== asker.session.csrf)
    throw new SondeError('ACC_CSRF', `the change lacks the word of its session in ${CSRF_HEADER}; load the page again`)
  if (asker.nextId !== undefined) reply.header('set-cookie', access.cookieFor(asker.nextId, raw))
  askers.set(request, asker)
  if (STREAM.test(routeOptions.url ?? '')) {
    const stop = access.watch(asker, () => reply.raw.destroy())
    reply.raw.once('close', stop)
  }
}

/** Routes of login, logout, the present session and the log of changes. */
export function accessRoutes(app: FastifyInstance, access: Access): void {
  const open = { config: { role: null } }
  app.get('/api/v1/session', open, async ({ raw }, reply) => {
    // A token that does not count any more is no fault here: the page shows the login.
    const asker = await access.askerOf(raw).catch(() => undefined)
    if (asker?.nextId !== undefined) reply.header('set-cookie', access.cookieFor(asker.nextId, raw))
    const answer: SessionAnswer = {
      needsLogin: access.needsLogin,
      identity: asker?.identity ?? null,
      csrf: asker?.session?.csrf ?? '',
    }
    return reply.header('cache-control', 'no-store').send(answer)
  })
  app.post('/api/v1/login', open, async ({ raw, body }, reply) => {
    const given = v.safeParse(loginSchema, body)
    if (!given.success)
      throw new SondeError('ACC_FORM', 'the body is not {"token": "…"} with a token of 1 to 200 characters')
    const { id, identity } = await access.login(given.output.token, raw)
    reply.header('set-cookie', access.cookieFor(id, raw)).header('cache-control', 'no-store')
    return reply.send({ identity })
  })
  app.post('/api/v1/logout', open, async ({ raw }, reply) => {
    const asker = await access.askerOf(raw).catch(() => undefined)
    if (asker?.session !== undefined) await access.logout(raw, asker.identity.name)
    return reply.header('set-cookie', access.cookieFor('', raw)).code(204).send()
  })
  app.get('/api/v1/audit', { config: { role: 'admin' } }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ entries: await access.audit.last() }),
  )
}

/** Who changes something by a request, for the log of changes. */
export function whoOf(request: FastifyRequest): { readonly who: string; readonly via: string; readonly from: string } {
  const { name, via } = identityOf(request)
  return { who: name, via, from: peerAddress(request.raw) }
}
