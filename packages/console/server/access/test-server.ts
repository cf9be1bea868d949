import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { SondeError } from '@sonde/sdk'
import type { UserRole } from '@sonde/sdk/api'
import { check } from '@sonde/sdk/config'
import { processTimers, type Timers } from '@sonde/sdk/internal'
import fastify from 'fastify'
import { Access } from './access.ts'
import { accessSchema } from './config.ts'
import { accessRoutes, authorize, whoOf } from './routes.ts'

/** A request that somebody has passed on does not come from this machine. */
const FOREIGN = { 'x-forwarded-for': '192.0.2.7' }
/** Looks come without a wait, so that a test need not wait either. */
const SOON: Timers = { ...processTimers, after: (ms, run) => processTimers.after(Math.min(ms, 20), run) }
const CODES: Readonly<Record<string, number>> = { ACC_WAIT: 429, ACC_ROLE: 403, ACC_CSRF: 403, ACC_FORM: 400 }

/** Options of {@link serve}. */
interface Options {
  readonly config?: object
  readonly isLoopback?: boolean
}

interface Answer {
  readonly status: number
  readonly code: string
  readonly cookie: string
  readonly text: string
}

/** A server with a route to read, a route to change, and one for scrapes. */
export async function serve(t: TestContext, { config = {}, isLoopback = false }: Options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-access-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const checked = check(accessSchema, config, 'access')
  assert.ok(checked.ok, JSON.stringify(checked))
  const faults: SondeError[] = []
  const access = new Access({
    ...{ config: checked.value, folder, isLoopback, timers: SOON },
    onFault: (fault) => faults.push(fault),
  })
  const app = fastify({ forceCloseConnections: true })
  app.setErrorHandler((error: Error & { code?: string }, _request, reply) =>
    reply.code(CODES[error.code ?? ''] ?? 401).send({ error: { code: error.code, message: error.message } }),
  )
  app.addHook('onRequest', (request, reply) => authorize(access, request, reply))
  accessRoutes(app, access)
  app.get('/metrics', () => 'metrics')
  app.get('/api/v1/node', (request) => whoOf(request))
  app.post('/api/v1/change', () => 'changed')
  app.get('/api/v1/stream', (_request, reply) => void reply.hijack().raw.writeHead(200).write('begun'))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const answer = await fetch(url + path, { ...init, headers: { ...FOREIGN, ...(init.headers as object) } })
    const text = await answer.text()
    const [, code = ''] = /"code":"(\w+)"/.exec(text) ?? []
    return { status: answer.status, code, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '', text }
  }
  const add = (name: string, role: UserRole, expiresMs: number | null = null) =>
    access.tokens.add({ name, role, addedBy: 'test', expiresMs })
  const login = (token: string, cookie = '') =>
    ask('/api/v1/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(cookie && { cookie }) },
      body: JSON.stringify({ token }),
    })
  return { access, add, ask, faults, folder, login, url }
}

/** Headers with a token. */
export const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
