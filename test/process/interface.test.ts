import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ask, metricsOf, numberOn } from '../ask.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const DEVICE = `sonde${process.pid % 100_000}a`
const PEER = `sonde${process.pid % 100_000}b`
/** From TEST-NET-3: nothing else routes it. */
const OWN_ADDRESS = '203.0.113.1'
const FAR_ADDRESS = '203.0.113.2'
const INTERVAL_MS = 100
const STEP_MS = 500
const LIMIT_MS = 20_000

const PAIR = ['link', 'add', DEVICE, 'mtu', '1400', 'type', 'veth', 'peer', 'name', PEER]

function ip(...args: string[]): { ok: boolean; said: string } {
  const { status, stderr, error } = spawnSync('ip', args, { encoding: 'utf8' })
  return { ok: status === 0, said: (error?.message ?? stderr).trim() }
}

/** Why this machine does not let a test make interfaces; false if it does. */
function refusal(): string | false {
  const made = ip(...PAIR)
  if (made.ok) ip('link', 'del', DEVICE)
  return made.ok ? false : `cannot make a veth pair: ${made.said}; run it as root, with iproute2 installed`
}

/**
 * Makes the pair anew, with its counters at 0. What is sent to the far address leaves through it, and nothing else
 * does.
 */
function makePair(): void {
  for (const args of [
    PAIR,
    ['link', 'set', DEVICE, 'addrgenmode', 'none'],
    ['link', 'set', PEER, 'addrgenmode', 'none'],
    ['address', 'add', `${OWN_ADDRESS}/30`, 'dev', DEVICE],
    ['link', 'set', PEER, 'up'],
    ['link', 'set', DEVICE, 'up'],
    ['neighbour', 'add', FAR_ADDRESS, 'lladdr', '02:00:00:00:00:02', 'dev', DEVICE],
  ]) {
    const { ok, said } = ip(...args)
    assert.ok(ok, `ip ${args.join(' ')}: ${said}`)
  }
}

async function send(packets: number): Promise<void> {
  const socket = createSocket('udp4')
  const packet = Buffer.alloc(1000)
  for (let i = 0; i < packets; i++) {
    await new Promise<void>((resolve, reject) =>
      socket.send(packet, 9, FAR_ADDRESS, (error) => (error === null ? resolve() : reject(error))),
    )
  }
  await new Promise<void>((resolve) => socket.close(() => resolve()))
}

/** Bytes sent, as the kernel itself counts them. */
const sentBytes = () => Number(readFileSync(`/sys/class/net/${DEVICE}/statistics/tx_bytes`, 'utf8'))

/** The value of a metric of the interface on the page; undefined if the page has none. */
async function shown(sonde: SondeProcess, metric: string): Promise<number | undefined> {
  return numberOn(await metricsOf(sonde), `${metric}{device="${DEVICE}"}`)
}

interface Series {
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: string | null
  readonly absent: string
}

async function listed(sonde: SondeProcess): Promise<Series[]> {
  const { series } = await ask<{ series: Series[] }>(sonde, '/api/v1/series?type=netdev')
  return series.filter(({ labels }) => labels.device === DEVICE)
}

/** What the API computes of the bytes sent, in steps that each hold several samples. */
async function computed(sonde: SondeProcess, fromMs: number, fn: 'rate' | 'increase'): Promise<number[]> {
  const matchers = [{ label: 'device', op: '=', value: DEVICE }]
  const query = { metric: 'netdev_tx_bytes_total', function: fn, matchers }
  const form = { fromMs, toMs: Date.now() + STEP_MS, stepMs: STEP_MS, queries: [query] }
  const { results } = await ask<{ results: { series: { values: (number | null)[] }[] }[] }>(
    sonde,
    '/api/v1/query',
    form,
  )
  return (results[0]?.series ?? []).flatMap(({ values }) => values.filter((value) => value !== null))
}

const caughtUp = (sonde: SondeProcess, what: string) =>
  until(what, LIMIT_MS, async () => (await shown(sonde, 'netdev_tx_bytes_total')) === sentBytes())

async function startOn(t: TestContext, command: 'agent' | 'up'): Promise<SondeProcess> {
  const dir = temporaryDir()
  t.after(() => {
    ip('link', 'del', DEVICE)
    dir.remove()
  })
  const config = join(dir.path, 'sonde.yaml')
  const source = { type: 'netdev', interval_ms: INTERVAL_MS, devices: [DEVICE, 'lo'] }
  writeFileSync(config, JSON.stringify({ data_sources: [source] }))
  const store = command === 'up' ? ['--data-dir', join(dir.path, 'data')] : []
  const sonde = await startSonde([command, '--config', config, '--log-level', 'error', ...store])
  t.after(() => sonde.stop())
  return sonde
}

for (const command of ['agent', 'up'] as const) {
  test(`sonde ${command}: an interface leaves every view, comes back, and its counters that restart make no spike in any rate`, {
    skip: refusal(),
  }, async (t) => {
    const fromMs = Date.now() - 1000
    const sonde = await startOn(t, command)
    makePair()
    await until('the new interface', LIMIT_MS, async () => (await shown(sonde, 'netdev_up')) === 1)
    await send(3000)
    await caughtUp(sonde, 'the bytes sent')
    const firstLife = sentBytes()
    assert.ok(firstLife > 3_000_000)

    ip('link', 'del', DEVICE)
    await until('its series to leave /metrics', LIMIT_MS, async () => {
      return (await shown(sonde, 'netdev_tx_bytes_total')) === undefined
    })
    assert.deepEqual(await listed(sonde), [], 'its series leave the API')

    makePair()
    await send(20)
    await caughtUp(sonde, 'the interface that came back')
    const again = await listed(sonde)
    assert.equal(again.find(({ metric }) => metric === 'netdev_tx_bytes_total')?.value, String(sentBytes()))
    assert.equal(again.find(({ metric }) => metric === 'netdev_mtu_bytes')?.value, '1400')
    for (const { metric, value, absent } of again) assert.ok(value !== null || absent !== '', `${metric}: no reason`)

    // Gone and back between two samples, more or less: the counter steps back without a gap.
    const secondLife = sentBytes()
    ip('link', 'del', DEVICE)
    makePair()
    await send(10)
    await caughtUp(sonde, 'the interface that was replaced')
    const sent = firstLife + secondLife + sentBytes()
    const gains = await until('the first burst in the history', LIMIT_MS, async () => {
      const found = await computed(sonde, fromMs, 'increase')
      return Math.max(...found) > firstLife / 2 && found
    })
    const gained = gains.reduce((sum, gain) => sum + gain, 0)
    assert.ok(gained <= sent, `${gained} bytes in the history, ${sent} were sent`)
    const rates = await computed(sonde, fromMs, 'rate')
    // Taken for a wrap, the fall of a counter would be a rise of almost 2³² or 2⁶⁴ bytes.
    for (const rate of rates) assert.ok(rate >= 0 && rate < 2 ** 31, `${rate} bytes/s`)
  })
}

test('what a switched-off interface does not have is absent with a reason, and there once it is switched on', {
  skip: refusal(),
}, async (t) => {
  const sonde = await startOn(t, 'agent')
  assert.ok(ip(...PAIR).ok)
  const carrier = async () => (await listed(sonde)).find(({ metric }) => metric === 'netdev_carrier')
  const off = await until('the interface', LIMIT_MS, carrier)
  assert.deepEqual([off.value, off.absent], [null, 'the interface is switched off'])
  assert.equal(await shown(sonde, 'netdev_carrier'), undefined, 'absent is not 0')
  assert.equal(await shown(sonde, 'netdev_up'), 0)
  ip('link', 'set', PEER, 'up')
  ip('link', 'set', DEVICE, 'up')
  await until('its carrier', LIMIT_MS, async () => (await carrier())?.value === '1')
  assert.equal(await shown(sonde, 'netdev_up'), 1)
})
