import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { WebhookDelivery } from '@sonde/sdk/api'
import type { Timers } from '@sonde/sdk/internal'
import { Webhook } from 'standardwebhooks'
import { until as eventually } from '../../../sdk/test/helper.ts'
import { Random, SEED } from '../../../sdk/test/random.ts'
import type { WebhookEvent } from './event.ts'
import { TestReceiver } from './test-receiver.ts'
import { Webhooks, type WebhooksOptions } from './webhooks.ts'

const random = new Random(SEED)

const EVENT: WebhookEvent = {
  type: 'hint.opened',
  status: 'start',
  atMs: 1_796_029_051_025,
  data: { rule: 'gpu_lost' },
}

/** Webhooks that end with the test, and all that they wrote. */
function open(t: TestContext, receivers: WebhooksOptions['receivers'], more: Partial<WebhooksOptions> = {}) {
  const lines: string[] = []
  const logged: string[] = []
  const note = (details: object, message: string) => void logged.push(JSON.stringify({ ...details, message }))
  const log = { info: note, warn: note }
  const write = (line: string) => void lines.push(line)
  const webhooks = new Webhooks({ receivers, log, write, signatureHeader: 'Convox-Signature', ...more })
  t.after(async () => {
    await webhooks.close(0)
    assert.ok(![...lines, ...logged, JSON.stringify(webhooks.answer())].join().includes('hunter2'))
  })
  const all = () => webhooks.deliveries({ limit: 1000 }).deliveries
  return { webhooks, lines, logged, all }
}

const until = (isThere: () => boolean) => eventually('the state of the deliveries', isThere, 30_000)

const over = (deliveries: readonly WebhookDelivery[]) => deliveries.every(({ state }) => state !== 'waiting')

/** Timers that ring when the test says so. */
class Bell {
  readonly waits: number[] = []
  readonly timers: Timers = {
    nowMs: () => 0,
    after: (delayMs, run) => {
      this.waits.push(delayMs)
      this.#runs.push(run)
      return () => this.#runs.splice(this.#runs.indexOf(run), 1)
    },
  }
  readonly #runs: (() => void)[] = []

  ring(): void {
    this.#runs.shift()?.()
  }
}

test('an event reaches every receiver that wants it, with one id, and each attempt is a line', async (t) => {
  const [chat, tickets] = [await TestReceiver.start(t), await TestReceiver.start(t)]
  const { webhooks, lines, logged, all } = open(t, {
    chat: chat.url,
    tickets: { url: tickets.url, timeout: '10s', events: ['hint.*'] },
  })
  webhooks.notify(EVENT)
  webhooks.notify({ ...EVENT, type: 'parameter.changed' })
  await until(() => all().length === 3 && over(all()))
  assert.deepEqual([chat.arrived.length, tickets.arrived.length], [2, 1])
  const [message] = tickets.arrived
  assert.deepEqual(JSON.parse(message?.body ?? ''), {
    ...{ type: 'hint.opened', action: 'hint:opened', status: 'start', timestamp: '2026-11-30T08:57:31.025Z' },
    data: { actor: 'system', rule: 'gpu_lost' },
  })
  const ofHint = chat.arrived.find(({ body }) => body.includes('hint.opened'))
  assert.equal(ofHint?.headers['webhook-id'], message?.headers['webhook-id'])
  assert.equal(message?.headers['content-type'], 'application/json')
  assert.equal(message?.headers['webhook-signature'], undefined)
  assert.deepEqual(lines, Array(3).fill('audit_type=webhook_dispatch_succeeded url_host=127.0.0.1 status=204'))
  assert.equal(logged.filter((line) => line.includes('"status":204')).length, 3)
  const { deliveries, leftOut } = webhooks.deliveries({ receiver: 'chat', limit: 1 })
  assert.deepEqual([deliveries[0]?.state, deliveries[0]?.status, leftOut], ['succeeded', 204, 1])
})

describe('a receiver in trouble:', () => {
  test('statuses and redirects fail, each with its line, and nothing is sent twice', async (t) => {
    const receiver = await TestReceiver.start(t)
    const other = await TestReceiver.start(t)
    const { webhooks, lines, all } = open(t, { one: receiver.url })
    for (const status of [500, 404, 302]) {
      receiver.answer = (response) => response.writeHead(status, { location: other.url }).end()
      const [delivery] = await webhooks.test()
      assert.deepEqual([delivery?.state, delivery?.status, delivery?.attempts], ['failed', status, 1])
    }
    webhooks.notify(EVENT)
    await until(() => over(all()))
    assert.deepEqual(
      lines,
      [500, 404, 302, 302].map((status) => `audit_type=webhook_dispatch_failed url_host=127.0.0.1 status=${status}`),
    )
    assert.deepEqual([receiver.arrived.length, other.arrived.length], [4, 0])
  })

  test('one that never answers costs its own messages only, up to its limits', async (t) => {
    const [silent, well] = [await TestReceiver.start(t), await TestReceiver.start(t)]
    silent.answer = () => undefined
    const { webhooks, lines, all } = open(t, { silent: { url: silent.url, timeout: '200ms' }, well: well.url })
    for (let count = 0; count < 300; count++) webhooks.notify(EVENT)
    await until(() => well.arrived.length === 256 + 4 && silent.arrived.length >= 4)
    assert.ok(lines.filter((line) => line.endsWith('status=0 error=queue_full')).length >= 2 * 40)
    await until(() => lines.some((line) => line.endsWith('status=0 error=timeout')))
    assert.ok(silent.arrived.length < 256)
    await webhooks.close(0)
    assert.ok(over(all()))
    const errors = new Set(all().flatMap(({ receiver, error }) => (receiver === 'silent' ? [error] : [])))
    assert.deepEqual([...errors].sort(), ['queue_full', 'stopped', 'timeout'])
  })

  test('the status of an endless answer counts', async (t) => {
    const receiver = await TestReceiver.start(t)
    receiver.answer = (response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      }
      response.on('drain', more)
      more()
    }
    const { webhooks } = open(t, { one: receiver.url })
    assert.equal((await webhooks.test())[0]?.state, 'succeeded')
  })

  test('one that is gone fails as such', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    const { webhooks, lines } = open(t, { one: `http://127.0.0.1:${port}/hunter2` })
    const [delivery] = await webhooks.test('one')
    assert.deepEqual([delivery?.error, delivery?.reason], ['connect', `127.0.0.1:${port} refuses the connection`])
    assert.deepEqual(lines, ['audit_type=webhook_dispatch_failed url_host=127.0.0.1 status=0 error=connect'])
  })

  test('one that answers 410 gets only tests, until a test succeeds', async (t) => {
    const receiver = await TestReceiver.start(t)
    receiver.answer = (response) => response.writeHead(410).end()
    const { webhooks, lines, all } = open(t, { one: receiver.url }, { retries: 9 })
    webhooks.notify(EVENT)
    await until(() => over(all()))
    webhooks.notify(EVENT)
    assert.equal(receiver.arrived.length, 1)
    assert.equal(lines.at(-1), 'audit_type=webhook_dispatch_failed url_host=127.0.0.1 status=0 error=gone')
    assert.match(webhooks.answer().receivers[0]?.fault ?? '', /410/)
    receiver.answer = (response) => response.end()
    await webhooks.test()
    webhooks.notify(EVENT)
    await until(() => receiver.arrived.length === 3)
  })
})

test('with retries a message comes again after growing pauses, with its id and a signature of its time', async (t) => {
  const receiver = await TestReceiver.start(t)
  receiver.answer = (response) => response.writeHead(503, { 'retry-after': '7200' }).end()
  const dir = mkdtempSync(join(tmpdir(), 'sonde-test-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const [secretFile, secret] = [join(dir, 'secret'), `whsec_${random.bytes(32).toString('base64')}`]
  writeFileSync(secretFile, secret)
  const bell = new Bell()
  const { webhooks, lines, all } = open(t, { one: receiver.url }, { retries: 2, timers: bell.timers, secretFile })
  webhooks.notify(EVENT)
  for (const count of [1, 2]) {
    await until(() => bell.waits.length === count)
    assert.equal(all()[0]?.state, 'waiting')
    assert.ok((all()[0]?.nextMs ?? 0) > Date.now())
    receiver.answer = (response) => response.writeHead(503).end()
    bell.ring()
  }
  await until(() => over(all()))
  const [asked = 0, usual = 0] = bell.waits
  assert.equal(asked, 7_200_000, 'the receiver asked for more than 5 s')
  assert.ok(usual >= 300_000 && usual <= 360_000, `${usual}`)
  assert.deepEqual([all()[0]?.attempts, all()[0]?.status, lines.length], [3, 503, 3])
  assert.equal(new Set(receiver.arrived.map(({ headers }) => headers['webhook-id'])).size, 1)
  for (const { body, headers } of receiver.arrived)
    assert.ok(new Webhook(secret).verify(body, headers as Record<string, string>))
})

test('a stop loses the messages that wait for another attempt, and says so', async (t) => {
  const receiver = await TestReceiver.start(t)
  receiver.answer = (response) => response.writeHead(503).end()
  const bell = new Bell()
  const { webhooks, lines, all } = open(t, { one: receiver.url }, { retries: 1, timers: bell.timers })
  webhooks.notify(EVENT)
  await until(() => bell.waits.length === 1)
  await webhooks.close()
  assert.equal(all()[0]?.error, 'stopped')
  assert.equal(lines.at(-1), 'audit_type=webhook_dispatch_failed url_host=127.0.0.1 status=0 error=stopped')
  webhooks.notify(EVENT)
  assert.equal(receiver.arrived.length, 1)
})

test('with keys that cannot be used nothing is sent, and it says why', async (t) => {
  const receiver = await TestReceiver.start(t)
  const secretEnv = 'SONDE_TEST_WEBHOOK_KEYS'
  t.after(() => {
    delete process.env[secretEnv]
  })
  const good = () => `whsec_${random.bytes(32).toString('base64')}`
  const { webhooks, lines, logged } = open(t, { one: receiver.url }, { secretEnv })
  assert.match(logged[0] ?? '', /not set/)
  const cases: readonly (readonly [secret: string, words: RegExp])[] = [
    ['whsec_hunter2', /signing key 1 of 1 has a wrong form/],
    [`${good()},hunter2`, /signing key 2 of 2 has a wrong form/],
    [Array.from({ length: 5 }, good).join(), /there are 5 signing keys; allowed: at most 4/],
  ]
  for (const [secret, words] of cases) {
    process.env[secretEnv] = secret
    const [delivery] = await webhooks.test()
    assert.equal(delivery?.error, 'keys')
    assert.match(delivery?.reason ?? '', words)
    assert.match(webhooks.answer().receivers[0]?.fault ?? '', words)
    assert.equal(lines.at(-1), 'audit_type=webhook_dispatch_failed url_host=127.0.0.1 status=0 error=keys')
  }
  assert.equal(receiver.arrived.length, 0)
  process.env[secretEnv] = good()
  await webhooks.test()
  assert.deepEqual(webhooks.answer().receivers[0]?.signatures, { standard: 1, convox: 0 })
  assert.equal(receiver.arrived.length, 1)
})

test('one test runs at a time, for a receiver that is there', async (t) => {
  const receiver = await TestReceiver.start(t)
  const { webhooks, lines } = open(t, { one: receiver.url, bad: '{' })
  assert.equal(lines[0], 'ns=webhook_parse at=skip reason=invalid_json name=bad')
  const first = webhooks.test('one')
  await assert.rejects(webhooks.test('one'), { code: 'WHK_BUSY' })
  await first
  await assert.rejects(webhooks.test('bad'), { code: 'WHK_UNKNOWN', message: /allowed: one/ })
  assert.deepEqual(await webhooks.test('one').then(([one]) => one?.type), 'webhook.test')
})

test('the oldest deliveries make room', async (t) => {
  const receiver = await TestReceiver.start(t)
  const { webhooks, all } = open(t, { one: receiver.url })
  for (let count = 0; count < 1010; count++) webhooks.notify(EVENT)
  await until(() => over(all()))
  assert.deepEqual([all().length, webhooks.deliveries({ limit: 5 }).forgotten], [1000, 10])
  assert.equal(webhooks.deliveries({ limit: 5, state: 'failed' }).leftOut, 1010 - 260 - 5)
})
