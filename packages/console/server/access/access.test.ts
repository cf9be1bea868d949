import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { UserRole } from '@sonde/sdk/api'
import { Attempts } from './attempts.ts'
import { Sessions } from './sessions.ts'
import { bearer, serve } from './test-server.ts'

const HOUR_MS = 3_600_000

test('beyond loopback the API needs a login; metrics, and users of this machine, need none', async (t) => {
  const { ask, add, url } = await serve(t)
  assert.deepEqual((({ status, code }) => [status, code])(await ask('/api/v1/node')), [401, 'ACC_LOGIN'])
  assert.equal((await ask('/metrics')).text, 'metrics')
  assert.match(await (await fetch(`${url}/api/v1/node`)).text(), /"who":"local"/)
  const spelled = await ask('/%61pi/v1/node')
  assert.equal(spelled.status, 401, 'another spelling is the same route')
  assert.match((await ask('/api/v1/node', bearer(await add('ada', 'viewer')))).text, /"who":"ada","via":"token"/)
})

test('on loopback nobody needs a login, unless it is required', async (t) => {
  const free = await serve(t, { isLoopback: true })
  assert.equal((await free.ask('/api/v1/node')).status, 200)
  const strict = await serve(t, { isLoopback: true, config: { required: true } })
  assert.equal((await strict.ask('/api/v1/node')).status, 401)
  assert.equal((await fetch(`${strict.url}/api/v1/node`)).status, 401)
})

test('a role may do what those before it may, and no more', async (t) => {
  const { ask, add } = await serve(t)
  const allowed: Record<UserRole, number[]> = {
    viewer: [200, 403, 403],
    operator: [200, 200, 403],
    admin: [200, 200, 200],
  }
  for (const [role, statuses] of Object.entries(allowed) as [UserRole, number[]][]) {
    const given = bearer(await add(role, role))
    const found = [
      await ask('/api/v1/node', given),
      await ask('/api/v1/change', { method: 'POST', ...given }),
      await ask('/api/v1/audit', given),
    ]
    assert.deepEqual(
      found.map(({ status }) => status),
      statuses,
      role,
    )
  }
})

test('tokens are kept as hashes in a private file, expire, and end with their sessions', async (t) => {
  const { access, ask, add, folder, login } = await serve(t)
  const [token, old] = [await add('ada', 'viewer'), await add('old', 'viewer', Date.now() - 1)]
  const path = join(folder, 'tokens.json')
  assert.doesNotMatch(readFileSync(path, 'utf8'), new RegExp(token.slice(6, 20)))
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal((await ask('/api/v1/node', bearer(old))).code, 'ACC_TOKEN')
  for (const forged of ['sonde_', `${token}x`, token.slice(0, -1), token.toUpperCase(), '../tokens.json'])
    assert.equal((await ask('/api/v1/node', bearer(forged))).code, 'ACC_TOKEN', forged)
  const { cookie } = await login(token)
  assert.equal((await ask('/api/v1/node', { headers: { cookie } })).status, 200)
  await access.tokens.remove('ada')
  assert.equal((await ask('/api/v1/node', { headers: { cookie } })).code, 'ACC_LOGIN')
  await assert.rejects(
    access.tokens.add({ name: 'a b', role: 'viewer', addedBy: '', expiresMs: null }),
    /ACC_NAME|name of a token/,
  )
})

test('a login gives a new id, whatever the browser sent; a cookie alone changes nothing', async (t) => {
  const { ask, add, login } = await serve(t)
  const token = await add('ada', 'operator')
  const fixed = 'sonde-session=chosen-by-somebody-else'
  const { cookie } = await login(token, fixed)
  assert.notEqual(cookie, fixed)
  assert.equal((await ask('/api/v1/node', { headers: { cookie: fixed } })).status, 401)
  const again = await login(token, cookie)
  assert.equal((await ask('/api/v1/node', { headers: { cookie } })).status, 401, 'the session before has ended')
  const headers = { cookie: again.cookie }
  assert.equal((await ask('/api/v1/node', { headers: { cookie: `${again.cookie}; ${fixed}` } })).status, 401)
  assert.equal((await ask('/api/v1/change', { method: 'POST', headers })).code, 'ACC_CSRF')
  const { csrf } = JSON.parse((await ask('/api/v1/session', { headers })).text)
  assert.equal(
    (await ask('/api/v1/change', { method: 'POST', headers: { ...headers, 'x-sonde-csrf': csrf } })).status,
    200,
  )
  const out = await ask('/api/v1/logout', { method: 'POST', headers })
  assert.deepEqual([out.status, out.cookie], [204, 'sonde-session='])
  assert.equal((await ask('/api/v1/node', { headers })).status, 401)
})

test('wrong tokens have to wait, and a right one does not', async (t) => {
  const { ask, add } = await serve(t)
  const token = await add('ada', 'viewer')
  const codes = []
  for (let attempt = 0; attempt < 8; attempt++) codes.push((await ask('/api/v1/node', bearer('sonde_wrong'))).code)
  assert.deepEqual(codes, [...Array(6).fill('ACC_TOKEN'), 'ACC_WAIT', 'ACC_WAIT'])
  assert.equal((await ask('/api/v1/node', bearer(token))).status, 200)
  const { entries } = JSON.parse((await ask('/api/v1/audit', bearer(await add('root', 'admin')))).text)
  assert.equal(entries.filter(({ action }: { action: string }) => action === 'login.refused').length, 6)
})

test('the wait doubles up to five minutes, by network, and is forgotten', () => {
  const attempts = new Attempts()
  const waits: number[] = []
  for (let count = 0; count < 16; count++) {
    attempts.failed('2001:db8::1', 0)
    waits.push(attempts.waitMs('2001:db8:0:0:ffff::9', 0))
  }
  assert.deepEqual(waits.slice(3, 9), [0, 0, 1000, 2000, 4000, 8000])
  assert.deepEqual(
    [waits.at(-1), attempts.waitMs('2001:db8:0:1::1', 0), attempts.waitMs('192.0.2.1', 0)],
    [300_000, 0, 0],
  )
  attempts.failed('2001:db8::1', 10 * HOUR_MS)
  assert.equal(attempts.waitMs('2001:db8::1', 10 * HOUR_MS), 0)
  for (let n = 0; n < 20_000; n++) attempts.failed(`10.0.${n >> 8}.${n & 255}`, 10 * HOUR_MS)
  assert.equal(attempts.waitMs('2001:db8::1', 10 * HOUR_MS), 0)
})

test('a session gets another id while it is used, and ends after its time', () => {
  const sessions = new Sessions(12 * HOUR_MS)
  const { id } = sessions.start({ sha256: 'a' }, 0)
  assert.equal(sessions.use(id, 60_000)?.nextId, undefined)
  const next = sessions.use(id, HOUR_MS)?.nextId
  assert.ok(next !== undefined && next !== id)
  assert.ok(sessions.use(id, HOUR_MS + 30_000), 'requests under way count')
  assert.equal(sessions.use(id, HOUR_MS + 61_000), undefined)
  assert.ok(sessions.use(next, HOUR_MS + 61_000))
  assert.equal(sessions.use(next, 4 * HOUR_MS), undefined, 'idle for too long')
  const long = sessions.start({ sha256: 'a' }, 0)
  let used = long.id
  for (let hour = 1; hour < 12; hour++) used = sessions.use(used, hour * HOUR_MS)?.nextId ?? ''
  assert.equal(sessions.use(used, 12 * HOUR_MS), undefined, 'however much it is used')
  for (let n = 0; n < 10_100; n++) sessions.start({ sha256: 'b' }, 20 * HOUR_MS)
  assert.equal(sessions.size, 10_000)
})

test('a listed proxy names user and groups; headers from elsewhere do not count', async (t) => {
  const proxy = { groups_header: 'X-Groups', operators: ['sre'], viewers: ['*'] }
  const { ask } = await serve(t, { config: { proxy: { ...proxy, peers: ['127.0.0.0/8'] } } })
  const as = (groups: string, more: Record<string, string> = {}) => ({
    headers: { 'x-forwarded-user': 'ada', 'x-groups': groups, ...more },
  })
  assert.match((await ask('/api/v1/node', as('other'))).text, /"who":"ada","via":"proxy"/)
  assert.equal((await ask('/api/v1/change', { method: 'POST', ...as('other') })).status, 403)
  assert.equal((await ask('/api/v1/change', { method: 'POST', ...as('dev, sre') })).status, 200)
  assert.equal((await ask('/api/v1/node')).status, 401, 'no user')
  const stranger = await serve(t, { config: { proxy: { ...proxy, peers: ['192.0.2.1'] } } })
  assert.equal((await stranger.ask('/api/v1/node', as('sre'))).status, 401)
})

test('a damaged file of tokens lets in nobody new, and is told once', async (t) => {
  const { access, ask, add, faults, folder } = await serve(t)
  const token = await add('ada', 'viewer')
  assert.equal((await ask('/api/v1/node', bearer(token))).status, 200)
  writeFileSync(join(folder, 'tokens.json'), '{"tokens":[{"name":"eve"}]}')
  assert.equal((await ask('/api/v1/node', bearer(token))).status, 200, 'the last good version counts')
  await ask('/api/v1/node', bearer(token))
  assert.deepEqual(
    faults.map(({ code }) => code),
    ['STA_DAMAGED'],
  )
  await assert.rejects(access.tokens.remove('ada'), /correct it, or move it away/)
})
