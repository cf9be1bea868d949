import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Batch, createSource, DtbDecoder, readRecords, SondeError, viewsOf } from '@sonde/sdk'
import type { IncidentAnswer } from '@sonde/sdk/api'
import { describeType } from '@sonde/sdk/internal'
import { temporaryDir } from '../../../../test/sonde-process.ts'
import { hostPressureType } from '../sources/host/type.ts'
import { IncidentPins } from './incident-pins.ts'

const START_MS = Date.UTC(2026, 10, 30, 14, 3)

/** A history with one record a second of one type. */
const kept = {
  types: async () => ({ types: [describeType(hostPressureType)], leftOut: 0 }),
  records: async ({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): Promise<Batch[]> => {
    const batches: Batch[] = []
    const source = createSource({ id: 'host', emit: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }) })
    for (let atMs = fromMs + 1000; atMs <= toMs; atMs += 1000)
      source.report(hostPressureType, { time: BigInt(atMs) * 1_000_000n, resource: 'cpu' })
    source.flush()
    return batches
  },
}

function answerOf(number: number): IncidentAnswer {
  const incident = {
    ...{ id: `node:${number}`, node: 'node', rule: 'storm', device: 'nic-1', sentence: '', affected: [] },
    ...{ title: 'Lost "packets"\u0000', startMs: START_MS, hints: [{ event: `${number}5` }] },
  } as unknown as IncidentAnswer['incident']
  return { nowMs: START_MS, incident, window: { fromMs: START_MS, toMs: START_MS + 60_000 }, notes: [] }
}

function folderOf(t: TestContext): string {
  const { path, remove } = temporaryDir()
  t.after(remove)
  return join(path, 'pins')
}

const codeOf = (code: string) => (error: unknown) => error instanceof SondeError && error.code === code

test('a pin is a copy of the window that later lives list, until somebody removes it', async (t) => {
  const dir = folderOf(t)
  await new IncidentPins({ dir, kept }).pin(answerOf(17), 'ada')
  const later = new IncidentPins({ dir, kept })
  const [pinned] = await later.list()
  assert.deepEqual([pinned?.incident.id, pinned?.pin.who, pinned?.pin.records], ['node:17', 'ada', 60])
  assert.equal(pinned?.pin.isCut, false)
  assert.ok(readdirSync(join(dir, '17'), { recursive: true }).some((name) => String(name).endsWith('.bin')))
  assert.equal(await later.unpin('node:17'), true)
  assert.equal(await later.unpin('node:17'), false)
  assert.deepEqual(readdirSync(dir), [])
})

test('a pin has one file for each source, however many batches the history has, and all texts', async (t) => {
  const dir = folderOf(t)
  const batchesOf = async ({ fromMs, toMs }: Parameters<typeof kept.records>[0]) => {
    const pieces = Array.from({ length: 20 }, (_, at) => fromMs + (at * (toMs - fromMs)) / 20)
    const all = await Promise.all(pieces.map((atMs) => kept.records({ fromMs: atMs, toMs: atMs + 3000 })))
    return all.flat()
  }
  await new IncidentPins({ dir, kept: { ...kept, records: batchesOf } }).pin(answerOf(17), 'ada')
  const names = readdirSync(join(dir, '17'), { recursive: true }).map(String)
  const files = names.filter((name) => name.endsWith('.bin'))
  assert.equal(files.length, 1)
  const bytes = readFileSync(join(dir, '17', files[0] ?? ''))
  const decoder = new DtbDecoder({ bytes: bytes.byteLength, read: (at, count) => bytes.subarray(at, at + count) })
  const resources: unknown[] = []
  for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
    if (step.kind !== 'records') continue
    const { type, bytes: read, count, symbols } = step.batch
    for (const { resource } of readRecords(type, viewsOf(read.slice()), count, symbols)) resources.push(resource)
  }
  assert.deepEqual([resources.length, new Set(resources)], [60, new Set(['cpu'])])
})

test('a copy that a kill left incomplete, and foreign folders, are no pins', async (t) => {
  const dir = folderOf(t)
  for (const name of ['17.partial', '18', '19', 'mine']) mkdirSync(join(dir, name), { recursive: true })
  writeFileSync(join(dir, '19', 'incident.json'), '{"incident":{"id":"node:20"},"pin":{"bytes":1}}')
  const pins = new IncidentPins({ dir, kept })
  assert.deepEqual(await pins.list(), [])
  assert.deepEqual(readdirSync(dir).sort(), ['18', '19', 'mine'])
})

test('a pin is found by its hints, and stays whole when the history has removed records', async (t) => {
  const dir = folderOf(t)
  await new IncidentPins({ dir, kept }).pin(answerOf(17), 'ada')
  const fewer = async (request: Parameters<typeof kept.records>[0]) => (await kept.records(request)).slice(0, 0)
  const pins = new IncidentPins({ dir, kept: { ...kept, records: fewer } })
  await pins.pin(answerOf(17), 'bob')
  assert.deepEqual(await pins.find('node:175'), await pins.get('node:17'))
  assert.deepEqual([(await pins.find('node:17'))?.pin.who, (await pins.find('node:17'))?.pin.records], ['ada', 60])
  for (const id of ['other:17', 'node:1', 'node:175x', '175', '../17']) assert.equal(await pins.find(id), undefined)
})

test('without records, without a history and beyond the limits nothing is pinned', async (t) => {
  const dir = folderOf(t)
  const empty = new IncidentPins({ dir, kept: { ...kept, records: async () => [] } })
  await assert.rejects(empty.pin(answerOf(1), ''), codeOf('INC_PIN'))
  assert.deepEqual(readdirSync(dir), [], 'nothing is left')
  await assert.rejects(new IncidentPins({ dir: undefined, kept: undefined }).pin(answerOf(1), ''), codeOf('INC_PIN'))
  for (let number = 1; number <= 100; number++) {
    const pinned = {
      ...answerOf(number),
      pin: { atMs: number, who: '', records: 1, bytes: 1, isCut: false, command: '' },
    }
    mkdirSync(join(dir, String(number)))
    writeFileSync(join(dir, String(number), 'incident.json'), JSON.stringify(pinned))
  }
  const full = new IncidentPins({ dir, kept })
  await assert.rejects(full.pin(answerOf(101), ''), codeOf('INC_LIMIT'))
  await full.pin(answerOf(7), 'again')
  assert.equal((await full.list()).length, 100)
})

test('files of a pin that are no files, damaged or endless are no pin, and hold nobody up', async (t) => {
  const dir = folderOf(t)
  for (const number of [17, 18, 19, 20]) await new IncidentPins({ dir, kept }).pin(answerOf(number), 'ada')
  const about = (number: number) => join(dir, String(number), 'incident.json')
  const whole = readFileSync(about(17), 'utf8')
  for (const number of [17, 18, 19]) rmSync(about(number))
  execFileSync('mkfifo', [about(17)])
  symlinkSync('/dev/zero', about(18))
  writeFileSync(about(19), '')
  truncateSync(about(19), 17 << 20)
  const damaged = [
    whole.slice(0, -1),
    whole.replace('"hints":[', '"hints":[null,'),
    whole.replace('"bytes":', '"bytes":-'),
    whole.replace('"affected":[', '"affected":[{},'),
  ]
  for (const [at, text] of damaged.entries()) {
    mkdirSync(join(dir, String(170 + at)))
    writeFileSync(about(170 + at), text.replace('"node:17"', `"node:${170 + at}"`))
  }
  const pins = new IncidentPins({ dir, kept })
  assert.deepEqual(
    (await pins.list()).map(({ incident }) => incident.id),
    ['node:20'],
  )
  assert.equal(await pins.find('node:999'), undefined)
})

test('a kill at any moment of a pin or its removal leaves a whole pin or none', async (t) => {
  const dir = folderOf(t)
  for (const number of [17, 18, 19, 20]) await new IncidentPins({ dir, kept }).pin(answerOf(number), 'ada')
  const folder = (name: string) => join(dir, name)
  // The new copy is complete, and the earlier one is: moved away; being removed; still there.
  renameSync(folder('17'), folder('17.partial'))
  renameSync(folder('18'), folder('18.partial'))
  mkdirSync(folder('18.removed'))
  cpSync(folder('19'), folder('19.partial'), { recursive: true })
  // The removal has begun.
  renameSync(folder('20'), folder('20.removed'))
  const pins = new IncidentPins({ dir, kept })
  assert.deepEqual((await pins.list()).map(({ incident }) => incident.id).sort(), ['node:17', 'node:18', 'node:19'])
  assert.deepEqual(readdirSync(dir).sort(), ['17', '18', '19'])
})

test('only the id of the pinned incident, or of its hint, removes a pin', async (t) => {
  const pins = new IncidentPins({ dir: folderOf(t), kept })
  await pins.pin(answerOf(17), 'ada')
  for (const id of ['other:17', '17', '../17', ':17', 'node:1']) assert.equal(await pins.unpin(id), false, id)
  assert.equal(await pins.unpin('node:175'), true)
})

test('who asks for a pin that is being copied gets the same one, and only a few wait', async (t) => {
  const dir = folderOf(t)
  const gate = Promise.withResolvers<void>()
  let copies = 0
  const slow = async (request: Parameters<typeof kept.records>[0]) => {
    copies++
    await gate.promise
    return kept.records(request)
  }
  const pins = new IncidentPins({ dir, kept: { ...kept, records: slow } })
  const same = Array.from({ length: 50 }, () => pins.pin(answerOf(17), 'ada'))
  const others = Array.from({ length: 10 }, (_, at) => pins.pin(answerOf(20 + at), 'ada'))
  const settled = Promise.allSettled(others)
  const removed = pins.unpin('node:17')
  const again = pins.pin(answerOf(17), 'bob')
  gate.resolve()
  await Promise.all(same)
  const refused = (await settled).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  assert.deepEqual([refused.length, refused.every(codeOf('INC_LIMIT'))], [3, true])
  assert.equal(await removed, true)
  await again
  assert.deepEqual([(await pins.get('node:17'))?.pin.who, copies], ['bob', 9])
})

test('a window of decades, as a clock that was wrong makes it, is read in few steps', async (t) => {
  let steps = 0
  const records = async ({ fromMs, toMs }: Parameters<typeof kept.records>[0]) => {
    steps++
    return kept.records({ fromMs: Math.max(fromMs, START_MS), toMs: Math.min(toMs, START_MS + 60_000) })
  }
  const pins = new IncidentPins({ dir: folderOf(t), kept: { ...kept, records } })
  const answer = answerOf(17)
  await pins.pin({ ...answer, window: { fromMs: 0, toMs: START_MS + 3_600_000 } }, 'ada')
  assert.equal((await pins.get('node:17'))?.pin.records, 60)
  assert.ok(steps < 100, `${steps} steps`)
})

test('a pin that cannot be removed stays', { skip: process.getuid?.() !== 0 }, async (t) => {
  const dir = folderOf(t)
  const pins = new IncidentPins({ dir, kept })
  await pins.pin(answerOf(17), 'ada')
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', join(dir, '17')])
  try {
    await assert.rejects(pins.unpin('node:17'), codeOf('INC_PIN'))
    assert.equal((await pins.list()).length, 1)
  } finally {
    execFileSync('umount', [join(dir, '17')])
  }
})

test('a pin leaves space for the history on its disk', { skip: process.getuid?.() !== 0 }, async (t) => {
  const dir = folderOf(t)
  mkdirSync(dir, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'none', dir])
  try {
    const pins = new IncidentPins({ dir, kept })
    await assert.rejects(
      pins.pin(answerOf(17), 'ada'),
      /has 6\d+ free bytes, and a pin needs 335544320; free some space$/,
    )
    assert.deepEqual(readdirSync(dir), [])
  } finally {
    execFileSync('umount', [dir])
  }
})
