import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { WebhookDeliveriesAnswer, WebhookTestAnswer } from '@sonde/sdk/api'
import { Webhook } from 'standardwebhooks'
import { TestReceiver } from '../../packages/console/server/webhooks/test-receiver.ts'
import { Random, SEED } from '../../packages/sdk/test/random.ts'
import { ask, metricsOf } from '../ask.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'

const random = new Random(SEED)

const LIMIT_MS = 40_000
/** A little longer than the shortest pause that is told. */
const STOPPED_MS = 3500

interface Hint {
  readonly id: string
  readonly stage: string
  readonly device: string
  readonly title: string
  readonly evidence: readonly object[]
  readonly affected: readonly string[]
}

interface Answer {
  readonly nowMs: number
  readonly rules: number
  readonly hints: readonly Hint[]
  readonly ended: readonly (Hint & { endedMs: number })[]
}

const idsOf = ({ hints }: Answer): string => hints.map(({ id, stage }) => `${id} ${stage}`).join()

/** Gathers the hints that a live stream tells until it is ended. */
async function follow(address: string, told: Answer[], signal: AbortSignal): Promise<void> {
  const q = JSON.stringify({ stepMs: 60_000, queries: [{ metric: 'DCGM_FI_DEV_POWER_USAGE' }] })
  const response = await fetch(`${address}/api/v1/stream?q=${encodeURIComponent(q)}`, { signal })
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk as Uint8Array)
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      if (!block.startsWith('event: hints\ndata: ')) continue
      told.push(JSON.parse(block.slice('event: hints\ndata: '.length)) as Answer)
    }
  }
}

test('a hint is told over HTTP, in the stream and to a webhook, with evidence that can be asked for, and counted', async (t) => {
  const receiver = await TestReceiver.start(t)
  const secret = `whsec_${random.bytes(32).toString('base64')}`
  const env = {
    SONDE_CONSOLE_WEBHOOKS_RECEIVERS: `chat=${receiver.url}`,
    ...{ SONDE_CONSOLE_WEBHOOKS_SECRET_ENV: 'CHAT_SECRET', CHAT_SECRET: secret },
  }
  const sonde = await startSonde(['agent', '--only-simulated', '--simulate'], { env })
  const ended = new AbortController()
  const told: Answer[] = []
  try {
    const following = follow(sonde.address, told, ended.signal)
    await until('the first event', LIMIT_MS, () => told.length >= 1)
    await ask(sonde, '/api/v1/simulator/scenarios', { name: 'power-brake' })
    const answer = await until('the hint', LIMIT_MS, async () => {
      const asked = await ask<Answer>(sonde, '/api/v1/hints')
      return asked.hints.length > 0 ? asked : undefined
    })
    const [hint] = answer.hints
    assert.equal(hint?.id, 'power_brake/sim-node')
    assert.equal(hint.device, 'sim-node')
    assert.equal(hint.affected.length, 8)
    assert.ok(answer.rules >= 18)
    const form = { fromMs: answer.nowMs - 10_000, toMs: answer.nowMs, stepMs: 1000, queries: hint.evidence }
    const { results } = await ask<{ results: { series: unknown[] }[] }>(sonde, '/api/v1/query', form)
    assert.deepEqual(
      results.map(({ series }) => series.length),
      hint.evidence.map(() => 8),
    )
    const metrics = await until('the count', LIMIT_MS, async () => {
      const text = await metricsOf(sonde)
      return /^sonde_hints_open\{.*power_brake.*\} 1$/m.test(text) ? text : undefined
    })
    assert.match(metrics, /^sonde_hints_opened_total\{rule="power_brake",severity="critical"\} 1$/m)
    await until('three events', LIMIT_MS, () => told.length >= 3)
    const message = await until('the webhook', LIMIT_MS, () => receiver.arrived[0])
    const opened = new Webhook(secret).verify(message.body, message.headers as Record<string, string>)
    const { type, data } = opened as { type: string; data: Record<string, string> }
    assert.deepEqual([type, data.rule, data.device, data.simulated], ['hint.opened', 'power_brake', 'sim-node', 'true'])
    const line = /^audit_type=webhook_dispatch_succeeded url_host=127\.0\.0\.1 status=204$/m
    await until('the line of the audit log', LIMIT_MS, () => line.test(sonde.output()))
    const kept = await ask<WebhookDeliveriesAnswer>(sonde, '/api/v1/webhooks/deliveries?state=succeeded&limit=1')
    assert.equal(kept.deliveries[0]?.id, message.headers['webhook-id'])
    await assert.rejects(ask(sonde, '/api/v1/webhooks/deliveries?state=lost'), /WHK_FORM/)
    await assert.rejects(ask(sonde, '/api/v1/webhooks/test', { receiver: 'tickets' }), /WHK_UNKNOWN/)
    const tested = await ask<WebhookTestAnswer>(sonde, '/api/v1/webhooks/test', { receiver: 'chat' })
    assert.equal(tested.deliveries[0]?.state, 'succeeded')
    assert.ok(!sonde.output().includes('hunter2'))
    ended.abort()
    await following.catch(() => undefined)
  } finally {
    ended.abort()
    await sonde.stop()
  }
  assert.deepEqual(told[0]?.hints, [], 'what there is at the start, though there is none')
  assert.ok(told.some((answer) => idsOf(answer) === 'power_brake/sim-node standing'))
})

test('a window of any length is answered, and says what is not known of it', async (t) => {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const sonde = await startSonde(['up', '--only-simulated', '--simulate', '--data-dir', dir.path])
  t.after(() => sonde.stop('SIGKILL'))
  const window = async (fromMs: number, toMs: number) => {
    const answer = await ask<{ unknown: { fromMs: number; toMs: number }[] }>(
      sonde,
      `/api/v1/incidents?from=${fromMs}&to=${toMs}`,
    )
    return answer.unknown.map((span) => [span.fromMs, span.toMs])
  }
  for (const [fromMs, toMs] of [
    [100_000, 100_001],
    [100_000, 110_000],
    [1_500_000_000_000, 1_500_000_005_000],
  ] as const)
    assert.deepEqual(await window(fromMs, toMs), [[fromMs, toMs]])
  assert.equal((await window(0, 8.64e15)).length > 0, true)
  await until('a short window in which it ran', LIMIT_MS, async () => {
    const nowMs = Date.now()
    return (await window(nowMs - 2000, nowMs - 1000)).length === 0
  })
})

test('a process that was stopped, and a clock that stepped, are times of which nothing is known', async (t) => {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const clock = join(dir.path, 'clock')
  const sonde = await startSonde(['agent', '--only-simulated', '--simulate'], {
    main: fileURLToPath(new URL('../faults/stepping-main.ts', import.meta.url)),
    env: { SONDE_TEST_CLOCK: clock },
  })
  t.after(() => sonde.stop('SIGKILL'))
  const spans = async () => {
    const { unknown } = await ask<{ unknown: { fromMs: number; toMs: number; reason: string }[] }>(
      sonde,
      '/api/v1/hints',
    )
    return unknown.filter(({ reason }) => /paused|set forward|set back/.test(reason))
  }
  await until('a look of the rules', LIMIT_MS, async () => (await ask<Answer>(sonde, '/api/v1/hints')).nowMs > 0)
  const stoppedMs = Date.now()
  sonde.child.kill('SIGSTOP')
  await until('a time in which it stood still', LIMIT_MS, () => Date.now() - stoppedMs > STOPPED_MS)
  const resumedMs = Date.now()
  sonde.child.kill('SIGCONT')
  const [still] = await until('the pause', LIMIT_MS, async () => {
    const found = await spans()
    return found.length > 0 && found
  })
  assert.match(still?.reason ?? '', /^Sonde paused/)
  assert.ok((still?.fromMs ?? 0) <= stoppedMs + 1000 && (still?.toMs ?? 0) >= resumedMs, JSON.stringify(still))
  for (const [offsetMs, reason] of [
    [60_000, /set forward/],
    [30_000, /set back/],
  ] as const) {
    writeFileSync(clock, String(offsetMs))
    sonde.child.kill('SIGUSR2')
    await until(`a step to ${offsetMs} ms`, LIMIT_MS, async () =>
      (await spans()).some((span) => reason.test(span.reason)),
    )
  }
})
