import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, readRecords, viewsOf } from '@sonde/sdk'
import { parse } from 'valibot'
import { hintType } from '../hints/history/hint-type.ts'
import { outside, stretchesIn } from '../hints/history/simulated-past-type.ts'
import { SourceOutlet } from '../hosting/source-outlet.ts'
import { simulatorOptions } from '../sources/simulator/config.ts'
import { NodeReport } from '../sources/simulator/report/node-report.ts'
import { ScenarioPlay } from '../sources/simulator/scenario-play.ts'
import { secondsOf } from '../sources/simulator/time.ts'
import { PastNode } from './past-node.ts'
import { SELF } from './past-protocol.ts'

const STARTED_MS = Date.UTC(2026, 7, 1, 14, 3)
const PAST_S = 420
const options = parse(simulatorOptions, { seed: 7, node_class: 'small', past_s: PAST_S })
const request = { options, intervalMs: 1000, name: 'simulator', host: 'here', startedMs: STARTED_MS }

interface Kept {
  readonly source: string
  readonly batch: Batch
}

/** The records of a time before the start. Unit: seconds before it. */
function pastOf(fromS: number, toS: number): Kept[] {
  const kept: Kept[] = []
  const span = { fromMs: STARTED_MS - fromS * 1000, toMs: STARTED_MS - toS * 1000 }
  const node = new PastNode({ ...request, ...span }, (source, batch) =>
    kept.push({ source, batch: { ...batch, bytes: batch.bytes.slice() } }),
  )
  while (!node.step());
  return kept
}

/** The records of the node that started then, of one time. */
function recordsOfNode(atMs: number): Batch[] {
  const kept: Batch[] = []
  const { context, source } = new SourceOutlet({
    ...{ name: 'simulator', intervalMs: 1000, labels: { simulated: 'true' } },
    emit: (batch) => kept.push({ ...batch, bytes: batch.bytes.slice() }),
    paths: { procfs: '', sysfs: '' },
    stats: { failed: { add: (place) => assert.fail(place) }, dropped: new Map() },
  })
  const { simulation } = new ScenarioPlay(options, { intervalMs: 1000, startedMs: STARTED_MS })
  const time = BigInt(atMs) * 1_000_000n
  new NodeReport(simulation, context).sample(time, secondsOf(time))
  source.flush()
  return kept
}

const textOf = ({ type, bytes, count, symbols }: Batch) =>
  [...readRecords(type, viewsOf(bytes), count, symbols)].map((record) => [type.name, record])

test('the past ends with the records with which the node starts', () => {
  const past = pastOf(20, 20).flatMap(({ source, batch }) => (source === 'simulator' ? [batch] : []))
  assert.ok(past.every(({ source }) => source.labels.simulated === 'true'))
  // Absences and periods have the time of the report.
  const measured = (batches: Batch[]) => batches.filter(({ type }) => !type.name.startsWith('sonde_')).flatMap(textOf)
  assert.deepEqual(measured(past), measured(recordsOfNode(STARTED_MS - 20_000)))
  assert.ok(measured(past).length > 0)
})

test('a past has hints that ended, and is known as a whole', () => {
  const own = pastOf(PAST_S, 0).filter(({ source }) => source === SELF)
  const batches = own.map(({ batch }) => batch)
  const hints = batches.flatMap(({ type, bytes, count, symbols }) =>
    type === hintType ? [...readRecords(hintType, viewsOf(bytes), count, symbols)] : [],
  )
  const ofEdge = (edge: string) => hints.filter((hint) => hint.edge === edge).map(({ rule, device }) => rule + device)
  assert.ok(ofEdge('confirmed').length > 0, 'no fault shows')
  assert.deepEqual(new Set(ofEdge('opened')), new Set([...ofEdge('ended'), ...ofEdge('dismissed')]))
  assert.ok(batches.every(({ source }) => source.labels.simulated === 'true'))
  const whole = { fromMs: STARTED_MS - PAST_S * 1000, toMs: STARTED_MS }
  assert.deepEqual(outside([whole], stretchesIn(batches)), [])
})
