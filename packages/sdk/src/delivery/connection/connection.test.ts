import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SimulatedTimers } from '../../../test/simulated-timers.ts'
import type { SendResult } from '../sender.ts'
import { Endpoints } from './endpoints.ts'
import { optionFault } from './option-fault.ts'
import { RateLimit } from './rate-limit.ts'
import { readSecret } from './secret-source.ts'
import { parseSocketAddress } from './socket-address.ts'

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-connection-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a secret has one source: the option, a file, or a variable', (t) => {
  const path = join(folderOf(t), 'password')
  writeFileSync(path, 'hush\n')
  assert.equal(readSecret('password', {}), undefined)
  assert.equal(readSecret('password', { password: 'hush' }), 'hush')
  assert.equal(readSecret('password', { passwordFile: path }), 'hush')
  assert.equal(readSecret('password', { passwordEnv: 'PASS' }, { PASS: 'hush' }), 'hush')
  writeFileSync(path, 'new')
  assert.equal(readSecret('password', { passwordFile: path }), 'new', 'a changed file is read again')
  const faultOf = (options: Record<string, string>) => optionFault(() => readSecret('password', options, {}))?.message
  assert.equal(
    faultOf({ password: 'hush', passwordEnv: 'PASS' }),
    'passwordEnv is given beside password; allowed: one of the two',
  )
  assert.equal(
    faultOf({ passwordEnv: 'PASS' }),
    'passwordEnv is "PASS", which is not set; allowed: a variable that is set',
  )
  assert.match(
    faultOf({ passwordFile: '/nowhere' }) ?? '',
    /^passwordFile is "\/nowhere", which cannot be read: ENOENT/,
  )
  writeFileSync(path, 'hush\r\nx-header: y')
  const forged = faultOf({ passwordFile: path }) ?? ''
  assert.match(forged, /which has several lines/)
  assert.doesNotMatch(forged, /hush/)
})

test('the next address gets the next attempt, and the first is tried again each minute', async () => {
  const timers = new SimulatedTimers()
  const endpoints = new Endpoints(['a', 'b', 'c'], timers)
  const down = new Set(['a'])
  const tried: string[] = []
  const send = endpoints.send<string>(async (_, endpoint): Promise<SendResult> => {
    tried.push(endpoint)
    if (down.has(endpoint)) throw new Error('ECONNREFUSED')
    return { outcome: 'ok' }
  })
  const attempt = () => send('', new AbortController().signal).catch(() => undefined)
  for (let i = 0; i < 3; i++) await attempt()
  assert.deepEqual(tried.splice(0), ['a', 'b', 'b'])
  await timers.advance(60_000)
  for (let i = 0; i < 2; i++) await attempt()
  assert.deepEqual(tried.splice(0), ['a', 'b'], 'one attempt at the first, which is still away')
  down.clear()
  await timers.advance(60_000)
  for (let i = 0; i < 2; i++) await attempt()
  assert.deepEqual(tried.splice(0), ['a', 'a'], 'the first has returned')
  for (const each of ['a', 'b', 'c']) down.add(each)
  for (let i = 0; i < 4; i++) await attempt()
  assert.deepEqual(tried.splice(0), ['a', 'b', 'c', 'a'])
})

test('an attempt that is aborted moves on, and two failures at one address move on once', async () => {
  const endpoints = new Endpoints(['a', 'b', 'c'], new SimulatedTimers())
  const controller = new AbortController()
  const send = endpoints.send<string>(() => new Promise(() => undefined))
  void send('', controller.signal)
  endpoints.failed('a')
  controller.abort()
  assert.equal(endpoints.next(), 'b')
})

test('a rate limit holds on average, and lets a payload larger than a second pass', async () => {
  const timers = new SimulatedTimers()
  const limit = new RateLimit(1000, timers)
  assert.equal(limit.waitMs, 0)
  limit.spend(5000)
  assert.equal(limit.waitMs, 5000)
  await timers.advance(6000)
  limit.spend(1000)
  assert.equal(limit.waitMs, 1000, 'time without payloads is not saved up')
  const none = new RateLimit(undefined, timers)
  none.spend(1e12)
  assert.equal(none.waitMs, 0)
})

test('reads host and port', () => {
  assert.deepEqual(parseSocketAddress('a.example:24224'), { host: 'a.example', port: 24_224 })
  assert.deepEqual(parseSocketAddress('[::1]:1'), { host: '::1', port: 1 })
  for (const text of ['', 'a', 'a:0', 'a:65536', '::1:24224', '[a]:1', 'me:pass@a:1', 'http://a:1'])
    assert.equal(parseSocketAddress(text), undefined, text)
})
