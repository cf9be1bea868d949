import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ReferenceBook,
  type ReferenceSample,
  referenceLog,
} from '../../../packages/agent/test/reference/reference-log.ts'
import { runTracebackCommand } from '../../../packages/cli/src/commands/traceback/traceback.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { anyFile, jsonText } from './any-file.ts'
import { anyReferenceRules } from './any-rules.ts'
import { anyStream } from './any-samples.ts'
import { readReferenceBook } from './model/reference-book.ts'
import { type SamplesHead, samplesFile } from './samples-file.ts'

const SAMPLES_MAX = 300
const RULES_MAX = 10
const DEPTHS = [1, 2, 4, 8, 16, 64]
const PERIODS_NS = [1, 100_000, 250_000_000, 4_294_967_295]
const START_WALL_NS = 1_790_000_000_000_000_000n
/** Chances of what the reference application does not take. */
const FAULTS = { file: 0.15, skipped: 0.1, period: 0.03, clock: 0.03 }
const BEFORE = 'a log of before\n'
const VERSION = '3.4.0012'

/** Runs the compatible command over random rules and samples in a folder; throws where its log is another. */
export async function compareLog(random: Random, folder: string): Promise<{ readonly bytes: number }> {
  const stream = anyStream(random, { samples: random.integer(1, SAMPLES_MAX), isReference: true })
  const depth = random.pick(DEPTHS)
  const samplePeriodNs = random.pick(PERIODS_NS)
  const dataIds = stream.signals.map((_, index) => ((random.bits64() << 4n) % 2n ** 64n) | BigInt(index))
  const rules = anyReferenceRules(random, stream, depth, random.integer(1, RULES_MAX))
  const file = anyFile(random, { samplePeriodNs, depth, dataIds, rules }, { faultChance: FAULTS.file })
  const samples = referenceSamples(
    random,
    stream.samples.map(({ values }) => values as bigint[]),
  )
  const head: SamplesHead = {
    samplePeriodNs: random.chance(FAULTS.period) ? samplePeriodNs + 1 : samplePeriodNs,
    clock: random.chance(FAULTS.clock) ? 'ticks' : 'rtc',
    dataIds,
  }
  const path = (name: string) => join(folder, name)
  const device = `file:${path('samples, "1"')}`
  writeFileSync(path('samples, "1"'), samplesFile(head, samples))
  writeFileSync(path('rules.json'), jsonText(file))
  writeFileSync(path('events.log'), BEFORE)
  const code = await runTracebackCommand({
    ...{ device, rules: path('rules.json'), eventLog: path('events.log') },
    ...{ compat: true, logLevel: '10' },
  })
  const reading = readReferenceBook(file)
  const wanted = 'book' in reading ? wantedOf(reading.book, { device, head, samples }) : { code: 1, log: BEFORE }
  const log = readFileSync(path('events.log'))
  // As lines, so that a failure shows which differ; then as bytes.
  deepEqual(log.toString().split('\n'), wanted.log.split('\n'))
  equal(log.compare(Buffer.from(wanted.log)), 0)
  equal(code, wanted.code, `exit code of ${jsonText(file)}`)
  return { bytes: log.length }
}

interface Given {
  readonly device: string
  readonly head: SamplesHead
  readonly samples: readonly ReferenceSample[]
}

/** What a run leaves; an empty log where it does not come to sampling. */
function wantedOf(
  book: ReferenceBook,
  { device, head, samples }: Given,
): { readonly code: number; readonly log: string } {
  if (head.clock !== 'rtc' || head.samplePeriodNs !== book.samplePeriodNs) return { code: 1, log: '' }
  const columns = book.dataIds.map(({ dataId }) => head.dataIds.indexOf(dataId))
  if (columns.includes(-1)) return { code: 1, log: '' }
  const found = samples.map((sample) => {
    return { ...sample, values: columns.map((column) => sample.values[column] as bigint) }
  })
  const log = referenceLog({ version: VERSION, device }, book, found)
  return { code: samples.some(({ isSkipped }) => isSkipped) ? 1 : 0, log }
}

function referenceSamples(random: Random, rows: readonly (readonly bigint[])[]): ReferenceSample[] {
  const skippedAt = random.chance(FAULTS.skipped) ? random.integer(0, rows.length - 1) : -1
  let hostWallNs = START_WALL_NS + BigInt(random.integer(0, 999_999_999))
  return rows.map((values, index) => {
    // The clock of the host may be set back.
    hostWallNs += BigInt(random.integer(random.chance(0.02) ? -5e9 : 0, 7e8))
    const earliestTimestampHigh = random.pick([0, 1_790_000_000, 0x80000000, 0xffffffff])
    const latestTimestampLow = random.integer(0, 0xffffffff)
    return { earliestTimestampHigh, latestTimestampLow, isSkipped: index === skippedAt, hostWallNs, values }
  })
}
