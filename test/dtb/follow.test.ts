import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFiles, createSource, DtbDecoder, openDtb } from '@sonde/sdk'
import { until } from '../sonde-process.ts'
import { reportPort, startRead, temporaryFolder, writePorts } from './sonde-read.ts'

const LIMIT_MS = 30_000
const COUNT = 3000

/** The values of a counter that falls by one a record, in the order in which they were printed. */
function countersOf(lines: readonly string[]): bigint[] {
  return lines.flatMap((line) => {
    const [, digits] = /"rx_bytes_total":(\d+)/.exec(line) ?? []
    return digits === undefined ? [] : [2n ** 64n - 1n - BigInt(digits)]
  })
}

test('follows a source that is written, over rotation, and gives each record once and in order', async (t) => {
  const dir = temporaryFolder(t)
  const sink = createFiles({ dataRoot: dir, maxBytes: 20_000 })
  const source = createSource({ id: 'node1', tag: 'x', bufferBytes: 4000, emit: (batch) => sink.accept(batch) })
  reportPort(source, 0)
  await source.flush()
  await sink.flush()
  const reader = startRead(t, dir, '--follow', '--type', 'port', '--limit', String(COUNT))
  await until('the first record', LIMIT_MS, () => reader.lines().length > 0)
  for (let i = 1; i < COUNT; i++) {
    reportPort(source, i)
    if (i % 500 !== 0) continue
    await source.flush()
    await sink.flush()
    await until(`record ${i}`, LIMIT_MS, () => reader.lines().length > i)
  }
  await source.close()
  await sink.close()
  assert.equal(await reader.ended, 0, reader.lines().at(-1))
  assert.deepEqual(
    countersOf(reader.lines()),
    Array.from({ length: COUNT }, (_, i) => BigInt(i)),
  )
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(isRecords)
  assert.ok(files.length > 5, `${files.length} files`)
})

test('a file that is named is followed into the next ones of its source and tag, on another day too, and into no other', async (t) => {
  const dir = temporaryFolder(t)
  const day = 86_400_000_000
  const writeDay = (index: number, count: number, tag = 'x') =>
    writePorts(dir, count, [{ id: 'node1', tag }], { nowUs: () => 1_790_000_000_000_000 + index * day })
  await writeDay(0, 10)
  await writeDay(0, 5, 'other')
  const [first = ''] = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) => /x\d+\.bin$/.test(path))
  const reader = startRead(t, join(dir, first), '--follow', '--type', 'port')
  await until('what there is', LIMIT_MS, () => reader.lines().length === 10)
  await writeDay(1, 20, 'other')
  await writeDay(1, 30)
  await until('what came', LIMIT_MS, () => reader.lines().length === 40)
  assert.ok(reader.lines().every((line) => line.includes('"tag":"x"')))
})

test('a folder that is not there yet is waited for', async (t) => {
  const dir = join(temporaryFolder(t), 'later')
  const reader = startRead(t, dir, '--follow', '--type', 'port', '--limit', '10')
  await until('what it waits for', LIMIT_MS, () => /later cannot be read: .*waited for/.test(reader.lines()[0] ?? ''))
  await writePorts(dir, 10)
  assert.equal(await reader.ended, 0, reader.lines().join('\n'))
  assert.equal(countersOf(reader.lines()).length, 10)
})

test('a block that is written bit by bit is printed once it is whole', async (t) => {
  const dir = temporaryFolder(t)
  await writePorts(join(dir, 'whole'), 5000)
  const [name = ''] = readdirSync(join(dir, 'whole'), { recursive: true, encoding: 'utf8' }).filter(isRecords)
  const whole = join(dir, 'whole', name)
  const bytes = readFileSync(whole)
  mkdirSync(join(dir, 'slow'))
  const slow = join(dir, 'slow', 'a.bin')
  writeFileSync(slow, bytes.subarray(0, 10))
  const reader = startRead(t, join(dir, 'slow'), '--follow')
  const file = openDtb(whole)
  const decoder = new DtbDecoder(file)
  let written = 10
  let count = 0
  for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
    if (step.kind !== 'records') continue
    // The header of the block and a part of its first record.
    appendFileSync(slow, bytes.subarray(written, step.at + 70))
    written = step.at + 70
    const expected = count
    await until(`${expected} records`, LIMIT_MS, () => reader.lines().length === expected)
    count += step.batch.count
  }
  file.close()
  appendFileSync(slow, bytes.subarray(written))
  await until('all records', LIMIT_MS, () => reader.lines().length === 5500)
  assert.equal(reader.child.exitCode, null)
})

function isRecords(path: string): boolean {
  return path.endsWith('.bin')
}
