import assert from 'node:assert/strict'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { absenceType } from '@sonde/sdk/internal'
import { parseTimex } from '../../native/clock.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { host } from './host.ts'
import { parseUnits } from './systemd.ts'
import { hostClockType, hostFailedUnitType, hostSystemdType } from './type.ts'

const fixture = new URL('fixtures/guest', import.meta.url)

type Rows = ReturnType<TestedSource['take']>

/** A node with one part whose program is a script. Time passes as fast as the test wants. */
function nodeWith(t: TestContext, part: string, script: string) {
  const node = new TestNode(t, fixture)
  mkdirSync(join(node.root, 'run/systemd/system'), { recursive: true })
  const systemctl = join(node.root, 'systemctl')
  node.write('systemctl', `#!/bin/sh\n${script}\n`)
  chmodSync(systemctl, 0o755)
  const { now } = performance
  let passedMs = 0
  performance.now = () => now.call(performance) + passedMs
  t.after(() => {
    performance.now = now
  })
  const options = { parts: [part], root_folder: node.root, systemctl }
  const tested = new TestedSource(host, node.paths, options)
  t.after(() => tested.source.close())
  const until = async (isThere: (rows: Rows) => boolean): Promise<Rows> => {
    for (let tries = 0; tries < 3000; tries++) {
      await tested.source.sample()
      const rows = tested.take()
      if (isThere(rows)) return rows
      await sleep(10)
    }
    throw new Error('it was not reported')
  }
  const pass = async (ms: number): Promise<void> => {
    // The source is made in its first sample.
    await tested.source.sample()
    passedMs += ms
  }
  return { node, tested, until, pass }
}

const reasonIn = (rows: Rows) => rows.find(({ type }) => type === absenceType)?.record

test('units that failed are counted and named, and leave when they recover', async (t) => {
  const failed = 'nvidia-fabricmanager.service loaded failed failed NVIDIA fabric manager service'
  const { node, tested, until, pass } = nodeWith(t, 'systemd', 'cat "$(dirname "$0")/units"')
  node.write('units', `${failed}\na.mount not-found failed failed\n`)
  await tested.source.sample()
  assert.deepEqual(tested.take(), [], 'nothing is started in the first seconds')
  await pass(11_000)
  const rows = await until((found) => found.some(({ type }) => type === hostSystemdType))
  assert.equal(rows.find(({ type }) => type === hostSystemdType)?.record.failed_units, 2n)
  assert.deepEqual(
    rows.filter(({ type }) => type === hostFailedUnitType).map(({ record }) => [record.unit, record.description]),
    [
      ['nvidia-fabricmanager.service', 'NVIDIA fabric manager service'],
      ['a.mount', ''],
    ],
  )
  node.write('units', `${failed}\n`)
  await pass(31_000)
  const after = await until((found) => found.some(({ record }) => record.code === 'gone'))
  assert.deepEqual(TestedSource.absences(after, { unit: 'a.mount' }), [': gone'])
})

test('a program that fails, hangs or talks without end costs its own values, with the reason', async (t) => {
  for (const [script, reason] of [
    ['echo Failed to connect to bus: Host is down >&2; exit 1', /Failed to connect to bus: Host is down$/],
    ['yes', /printed more than 1048576 bytes$/],
    ['echo what is this', /a line that cannot be read: "what is this"$/],
  ] as const) {
    const { until, pass } = nodeWith(t, 'systemd', script)
    await pass(11_000)
    assert.match(String(reasonIn(await until((rows) => rows.length > 0))?.reason), reason)
  }
})

test('where systemd does not run, and where its program is not installed, the reason says so', async (t) => {
  const node = new TestNode(t, fixture)
  const tested = new TestedSource(host, node.paths, { parts: ['systemd'], root_folder: node.root })
  t.after(() => tested.source.close())
  await tested.source.sample()
  assert.match(String(reasonIn(tested.take())?.reason), /^systemd does not run here/)
  const { node: other, until, pass } = nodeWith(t, 'systemd', '')
  other.remove('systemctl')
  await pass(11_000)
  assert.match(String(reasonIn(await until((rows) => rows.length > 0))?.reason), /is not installed$/)
})

test('a name or description of a unit that is too long is cut, and an empty list is no failure', () => {
  assert.deepEqual(parseUnits('\n'), [])
  const line = `${'a'.repeat(300)} loaded failed failed ${'x'.repeat(100_000)}\n`
  const [unit] = parseUnits(line) as readonly { unit: string; description: string }[]
  assert.deepEqual([unit?.unit.length, unit?.description.length], [256, 256])
})

test('the clock of this machine is read by a child, and has a bound', async (t) => {
  const { until, pass } = nodeWith(t, 'clock', '')
  await pass(11_000)
  const rows = await until((found) => found.length > 0)
  assert.equal(reasonIn(rows)?.reason, undefined)
  const record = rows.find(({ type }) => type === hostClockType)?.record
  assert.ok(Number(record?.max_error_seconds) > 0 && Number(record?.max_error_seconds) <= 16.5)
  assert.ok(record?.synchronised === 0 || record?.synchronised === 1)
})

test('timex: offsets in micro- or nanoseconds, as its status says', () => {
  const timex = Buffer.alloc(208)
  timex.writeBigInt64LE(-1500n, 8)
  timex.writeBigInt64LE(65_536n * 20n, 16)
  timex.writeBigInt64LE(16_000_000n, 24)
  timex.writeInt32LE(0x40, 40)
  timex.writeInt32LE(37, 160)
  const { offset_seconds, frequency_adjustment_ratio, ...others } = parseTimex(timex)
  assert.ok(Math.abs(offset_seconds + 0.0015) < 1e-12)
  assert.ok(Math.abs(frequency_adjustment_ratio - 20e-6) < 1e-12)
  assert.deepEqual(others, {
    max_error_seconds: 16,
    estimated_error_seconds: 0,
    synchronised: 0,
    tai_offset_seconds: 37,
  })
  timex.writeInt32LE(0x2001, 40)
  assert.ok(Math.abs(parseTimex(timex).offset_seconds + 1.5e-6) < 1e-12)
  assert.equal(parseTimex(timex).synchronised, 1)
})
