import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { Sessions } from './sessions.ts'
import { bearer, serve } from './test-server.ts'

/** A login from an address of this machine, as another server in front would not make it. */
function loginFrom(url: string, localAddress: string, token: string): Promise<{ status: number; waitS: number }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.7' }
    const asked = request(`${url}/api/v1/login`, { method: 'POST', localAddress, headers }, (response) => {
      response.resume()
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, waitS: Number(response.headers['retry-after'] ?? 0) })
      })
    })
    asked.once('error', reject)
    asked.end(JSON.stringify({ token }))
  })
}

test('whoever guesses waits; a neighbour who mistypes once, and everybody with a right token, do not', async (t) => {
  const { add, url } = await serve(t)
  const token = await add('ada', 'viewer')
  // However slow this machine is, the guesses come within the first wait.
  const nowMs = Date.now()
  t.mock.method(Date, 'now', () => nowMs)
  const guesses = []
  for (let n = 0; n < 60; n++)
    guesses.push((await loginFrom(url, '127.0.0.2', `sonde_${'x'.repeat(40)}${100 + n}`)).status)
  assert.deepEqual([...new Set(guesses.slice(6))], [429])
  assert.equal((await loginFrom(url, '127.0.0.3', 'sonde_mistyped')).status, 401, 'looked at, and refused')
  assert.equal((await loginFrom(url, '127.0.0.3', token)).status, 200)
  assert.equal((await loginFrom(url, '127.0.0.2', token)).status, 200, 'behind one address there may be many')
  assert.equal((await loginFrom(url, '127.0.0.2', 'sonde_wrong')).status, 429, 'a right token pardons no guess')
})

test('a cookie is dead after its logout, also one that another id had replaced', async (t) => {
  const { add, ask, login } = await serve(t)
  const { cookie } = await login(await add('ada', 'admin'))
  const headers = { cookie }
  assert.equal((await ask('/api/v1/audit', { headers })).status, 200)
  await ask('/api/v1/logout', { method: 'POST', headers })
  for (const path of ['/api/v1/audit', '/api/v1/node']) assert.equal((await ask(path, { headers })).status, 401, path)
  assert.match((await ask('/api/v1/session', { headers })).text, /"identity":null/)
  const sessions = new Sessions(3_600_000 * 12)
  const { id } = sessions.start({ sha256: 'a' }, 0)
  const next = sessions.use(id, 16 * 60_000)?.nextId ?? ''
  sessions.end(next)
  assert.equal(sessions.use(id, 16 * 60_000), undefined)
})

test('a session ends when its token expires or changes its role, not at its own end', async (t) => {
  const { add, ask, folder, login } = await serve(t)
  const { cookie } = await login(await add('ada', 'operator'))
  const path = join(folder, 'tokens.json')
  const edit = (from: RegExp, to: string) => writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
  const { csrf } = JSON.parse((await ask('/api/v1/session', { headers: { cookie } })).text) as { csrf: string }
  const change = { method: 'POST', headers: { cookie, 'x-sonde-csrf': csrf } }
  assert.equal((await ask('/api/v1/change', change)).status, 200)
  edit(/"operator"/, '"viewer"')
  assert.equal((await ask('/api/v1/change', change)).code, 'ACC_ROLE')
  edit(/"expiresMs": null/, `"expiresMs": ${Date.now() - 1}`)
  assert.equal((await ask('/api/v1/node', { headers: { cookie } })).code, 'ACC_LOGIN')
})

test('the word of one session is of no use to another; a login of another site takes nothing over', async (t) => {
  const { add, ask, login } = await serve(t)
  const [one, other] = [await login(await add('ada', 'operator')), await login(await add('eve', 'operator'))]
  const wordOf = async (cookie: string) =>
    (JSON.parse((await ask('/api/v1/session', { headers: { cookie } })).text) as { csrf: string }).csrf
  const headers = { cookie: one.cookie, 'x-sonde-csrf': await wordOf(other.cookie) }
  assert.equal((await ask('/api/v1/change', { method: 'POST', headers })).code, 'ACC_CSRF')
  // A form of another site sends text, and no JSON.
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const given = await ask('/api/v1/login', { method: 'POST', headers: form, body: 'token=sonde_x' })
  assert.ok(given.status >= 400 && given.cookie === '', given.text)
  // A session shown as a token, and a token shown as a session, are neither.
  assert.equal((await ask('/api/v1/node', bearer(one.cookie.split('=')[1] ?? ''))).code, 'ACC_TOKEN')
})

test('a stream ends with the token or session that opened it, and lasts as long as both', async (t) => {
  const { access, add, ask, login, url } = await serve(t)
  const open = async (headers: Readonly<Record<string, string>>) => {
    const { status, body } = await fetch(`${url}/api/v1/stream`, { headers })
    assert.equal(status, 200)
    const reader = body?.getReader()
    await reader?.read()
    const end = { isOver: false, over: Promise.resolve() }
    end.over = (async () => {
      await reader?.read().catch(() => undefined)
      end.isOver = true
    })()
    return end
  }
  assert.equal((await ask('/api/v1/stream')).status, 401)
  const byToken = await open(bearer(await add('program', 'viewer')).headers)
  const { cookie } = await login(await add('ada', 'viewer'))
  const [left, removed] = [
    await open({ cookie }),
    await open({ cookie: (await login(await add('eve', 'viewer'))).cookie }),
  ]
  await access.tokens.remove('program')
  await byToken.over
  await access.tokens.remove('eve')
  await removed.over
  assert.equal(left.isOver, false)
  await ask('/api/v1/logout', { method: 'POST', headers: { cookie } })
  await left.over
})
