import assert from 'node:assert/strict'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Batch, type Labels, type ReadRecord, type RecordType, readRecord, viewsOf } from '@sonde/sdk'
import type { TracebackEvent } from '@sonde/sdk/api'
import * as v from 'valibot'
import { SourceOutlet } from '../src/hosting/source-outlet.ts'
import type { SignalRule, Test } from '../src/rules/rule.ts'
import type { SourceDefinition, SourceEdge } from '../src/sources/source.ts'
import { mockClock } from '../src/sources/test-clock.ts'
import type { TestNode } from '../src/sources/test-node.ts'
import { askEvents, eventPath } from './events-in.ts'
import { serveAgent } from './served-agent.ts'

/** The field that is watched in a test, of one series. */
export interface WatchedField {
  readonly type: RecordType
  readonly field: string
  readonly labels: Labels
}

/** A source of fast samples over a tree of files, with a clock that a test moves, and rules on one field. */
export async function bringUpSamples(
  t: TestContext,
  { definition, node, watched }: { definition: SourceDefinition; node: TestNode; watched: WatchedField },
  tests: readonly Test[],
  options: object = {},
) {
  const { type, field, labels } = watched
  const clock = mockClock(t)
  const edges: SourceEdge[] = []
  const batches: Batch[] = []
  const outlet = new SourceOutlet({
    ...{ name: definition.name, intervalMs: 1000, paths: node.paths },
    stats: { failed: { add: () => undefined }, dropped: new Map() },
    emit: (batch) => batches.push(batch),
    onEdge: (edge) => edges.push(edge),
  })
  const rules = tests.map((test, at): SignalRule => ({ name: `${test.kind} ${at}`, signal: 0, test }))
  const isCounter = type.layout.slots.find(({ name }) => name === field)?.field.role === 'counter'
  outlet.watch({ signals: [{ name: field, type: type.name, field, labels, isCounter }], rules })
  const { create } = await definition.load()
  const source = create(v.parse(definition.options, options), outlet.context)
  t.after(() => source.close())
  const [sample, report] = source.duties()
  assert.ok(sample !== undefined && report !== undefined)
  const startNs = process.hrtime.bigint()
  /** Time goes by, files change, and a sample is taken. */
  const step = async (ms: number, change?: () => void) => {
    clock.advance(ms)
    change?.()
    await sample.run()
    outlet.flush()
  }
  const msAfter = (ns: bigint) => Number(ns - startNs) / 1e6
  const said = () => edges.map(({ rule, isStart, monoNs }) => `${rule} ${isStart ? '+' : '-'} ${msAfter(monoNs)}`)
  const rows = (): ReadRecord[] => {
    const tap = outlet.tap(type.name, Object.values(labels).join('/'))
    assert.ok(tap !== undefined)
    const { bytes, count } = tap.cut(0n, 1n << 63n, 1 << 30)
    const { recordBytes } = type.layout
    return Array.from({ length: count }, (_, at) =>
      readRecord(type, viewsOf(bytes), at * recordBytes, outlet.source.symbols),
    )
  }
  return { step, report: async () => report.run(), said, edges, rows, outlet }
}

/** A lane of the page of an event. */
export interface TestLane {
  readonly key: string
  readonly name: string
  readonly type: string
  readonly resolutionMs: number
}

/**
 * An agent with a rule on fast samples: once there are samples something happens, and the event that the rule opens is
 * closed.
 */
export async function eventInAgent(
  t: TestContext,
  given: {
    readonly sources: readonly SourceDefinition[]
    readonly node: TestNode
    readonly watched: WatchedField
    readonly rule: object
    readonly happens: () => void
    /** Waits until a look finds something: that of the tests of the SDK. */
    readonly until: <T>(what: string, look: () => Promise<T | undefined | false>) => Promise<T>
  },
): Promise<{ event: TracebackEvent; lanes: readonly TestLane[] }> {
  const { sources, node, watched, rule, happens, until } = given
  const { type, field, labels } = watched
  const rules = join(node.root, 'rules.json')
  const signal = { name: field, type: type.name, field, labels }
  const book = { sample_history_depth: 1, signals: [signal], rules: [{ signal: field, name: 'burst', ...rule }] }
  writeFileSync(rules, JSON.stringify(book))
  const { agent, address } = await serveAgent(t, {
    ...{ sources, paths: node.paths },
    traceback: { dir: join(node.root, 'events'), rules, before_ms: 200, after_ms: 100 },
  })
  await until('rules are in effect', async () => agent.rules?.book)
  const ring = Object.values(labels).join('/')
  const taps = async () => (await Promise.all(agent.sources.map((source) => source.taps()))).flat()
  await until('samples are taken', async () =>
    (await taps()).some((tap) => tap.type === type.name && tap.device === ring && tap.count > 10 && tap.rules.length),
  )
  happens()
  const [event] = (await until('it is closed', async () => {
    const { events } = await askEvents(address, 'state=ended')
    return events.length > 0 && events
  })) as [TracebackEvent]
  const answer = await fetch(`${address}${eventPath(event.id)}/lanes`)
  const { lanes } = (await answer.json()) as { readonly lanes: readonly TestLane[] }
  return { event, lanes }
}

/** Writes over the start of a file: a reader that comes meanwhile never finds it empty. */
export function overwrite(path: string, text: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, text, 0)
  closeSync(file)
}
