import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Hint, HintsAnswer } from '@sonde/sdk/api'
import type { QueryAnswer } from '@sonde/sdk/internal'
import type { DeviceInfo } from '../../packages/console/web/api/devices.ts'
import { hintsIn } from '../../packages/console/web/api/hints-in.ts'
import { deviceSentence } from '../../packages/console/web/devices/device-sentence.ts'
import { holdsNow, type SpokenMoment, worstByDevice } from '../../packages/console/web/devices/hint-words.ts'
import { type MomentHints, momentHints, unknownWords } from '../../packages/console/web/devices/moment-hints.ts'
import { nodeSentence } from '../../packages/console/web/devices/node-sentence.ts'
import { gpuTile, nicTile } from '../../packages/console/web/devices/tile-words.ts'
import { hintNotes, hintRow, shownHints } from '../../packages/console/web/pages/node/hint-row.ts'
import { beginLife, type SimulatedLife } from '../hints/simulated-life.ts'
import { SCENARIO_CASES, type ScenarioCase, type Tell } from './scenario-cases.ts'

const WARM_UP_S = 75
const LASTS_S = 60
/** Longer than a gap that is taken for none. */
const RESTART_S = 40
/** Events are told for a minute after they were counted, and rates are means over seconds. Unit: milliseconds. */
const TOLD_AFTER_MS = 70_000
const TIME = String.raw`(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC`
const COLUMNS = { state: Float64Array.of(4), sent: Float64Array.of(1e9), power: Float64Array.of(500) }

/** What the page says at a moment, in words, with what it says it of. */
interface Page {
  readonly name: string
  readonly answer: HintsAnswer
  readonly seen: MomentHints
  readonly moment: SpokenMoment
  readonly devices: readonly DeviceInfo[]
}

for (const cases of SCENARIO_CASES) {
  test(`what the page says of ${cases.map(({ name }) => name).join(', ')} is so`, (t) => sayAll(t, cases))
}

/** Five moments: the beginning, the middle, after the end, zoomed, and zoomed and live after a restart. */
async function sayAll(t: TestContext, cases: readonly ScenarioCase[]): Promise<void> {
  const life = await beginLife(t)
  const { node } = life
  life.run(WARM_UP_S)
  const onsetMs = node.nowMs
  for (const { name, device, severity } of cases)
    node.start({ name, durationS: LASTS_S, ...(device && { device }), ...(severity && { severity }) })
  const pages = [await pageNow(life, 'before any sample of it')]
  life.run(8)
  pages.push(await pageNow(life, 'the beginning'))
  life.run(32)
  pages.push(await pageNow(life, 'the middle'))
  life.run(60)
  pages.push(await pageNow(life, 'after the end'))
  await life.flush()
  pages.push(await pageOf(life, 'zoomed', onsetMs - 10_000, onsetMs + 40_000))
  const tells = await tellsOf(life, cases, onsetMs - 60_000, node.nowMs)
  for (const page of pages) check(page, cases, tells)
  const next = await life.restart(RESTART_S)
  next.run(15)
  await next.flush()
  check(await pageNow(next, 'after a restart'), cases, tells)
  const zoomed = await pageOf(next, 'zoomed after a restart', onsetMs - 10_000, onsetMs + 40_000)
  check(zoomed, cases, tells)
  assert.deepEqual(lines(zoomed), lines(pages.find(({ name }) => name === 'zoomed')!), 'as before the restart')
  const stop = await pageOf(next, 'the restart itself', node.nowMs - 5_000, node.nowMs + 60_000)
  assert.match(sentenceOf(stop).facts, /not known from .*Sonde did not run/)
}

/** Each sentence of a page against samples and statements. */
function check(page: Page, cases: readonly ScenarioCase[], tells: ReadonlyMap<string, readonly number[]>): void {
  const { name, seen, moment, answer, devices } = page
  const atMs = moment.toMs ?? moment.nowMs
  for (const hint of new Set([...seen.hints, ...seen.ended])) {
    const one = cases.find(({ rules }) => rules.includes(hint.rule))
    assert.ok(one, `${name}: ${hint.id} is of no scenario`)
    const toldMs = tells.get(one.name) ?? []
    checkRow(page, hint)
    // The samples that are looked at are those of the scenario's first rule.
    if (hint.rule !== one.rules[0]) continue
    const isSo = toldMs.some((ms) => ms >= hint.sinceMs - TOLD_AFTER_MS && ms <= hint.seenMs + 1_000)
    assert.ok(isSo, `${name}: no sample tells of ${hint.title}`)
    if (holdsNow(hint, moment))
      assert.ok(
        toldMs.some((ms) => ms > atMs - TOLD_AFTER_MS && ms <= atMs + 1_000),
        `${name}: "${hint.title}" is said of now`,
      )
  }
  const { sentence, facts } = sentenceOf(page)
  const worst = seen.hints[0]
  if (worst === undefined) assert.match(sentence, seen.isKnown ? / in range\.$/ : / read\.$/, name)
  else if (holdsNow(worst, moment)) assert.match(sentence, /, for \d+/, name)
  else {
    assert.match(sentence, new RegExp(`^(At ${TIME}|From ${TIME} (to ${TIME}|on)): `), name)
    assert.match(facts, new RegExp(`^At ${TIME}: `), name)
  }
  for (const device of devices) checkTile(page, device)
  const { empty } = hintNotes(seen, moment)
  if (/nothing did within the last hour/.test(empty)) assert.deepEqual(answer.unknown, [])
}

function checkRow({ name, moment }: Page, hint: Hint): void {
  const { state, sentence } = hintRow(hint, moment)
  const atMs = moment.toMs ?? moment.nowMs
  if (state.tone === 'ok') assert.ok(hint.outcome === 'ended' && (hint.endedMs ?? 0) <= atMs, name)
  if (!holdsNow(hint, moment)) assert.match(sentence, new RegExp(`^At ${TIME}: `), name)
}

/** No check mark where a hint that is shown contradicts it, and none if nothing is known. */
function checkTile({ name, seen, moment }: Page, device: DeviceInfo): void {
  const hint = worstByDevice(seen.hints).get(device.id)
  const context = { hint, isJudged: seen.isKnown, stepMs: 1_000, isNow: true, zone: 'utc', sentTop: 50e9 } as const
  const { tone } = device.kind === 'gpu' ? gpuTile(device, COLUMNS, context) : nicTile(device, COLUMNS, context)
  const isStruck = seen.hints.some((one) => one.device === device.id)
  assert.equal(tone === 'ok', hint === undefined && seen.isKnown, `${name}: ${device.name} is ${tone}`)
  if (isStruck) assert.notEqual(tone, 'ok', `${name}: ${device.name}`)
  const { sentence } = deviceSentence(device, seen, moment)
  if (/ in range\.$/.test(sentence)) assert.ok(!isStruck && seen.isKnown, `${name}: ${sentence}`)
}

function sentenceOf({ seen, answer, moment, devices }: Page) {
  const unknown = moment.toMs === undefined ? '' : unknownWords(seen.unknown, 'utc')
  const numbers = { ruleCount: answer.rules, lastEndedMs: undefined, power: Number.NaN, sent: Number.NaN }
  return nodeSentence({ devices, hints: seen.hints, isKnown: seen.isKnown, unknown, ...numbers, moment })
}

/** Everything in the table of hints, a line a row. */
function lines({ seen, moment }: Page): string[] {
  return shownHints(seen).shown.map((hint) => Object.values({ ...hintRow(hint, moment), state: '' }).join(' | '))
}

async function pageNow(life: SimulatedLife, name: string): Promise<Page> {
  const answer = life.node.hints.answer()
  const moment = { nowMs: answer.nowMs, tense: 'present', zone: 'utc' } as const
  return { name, answer, seen: momentHints(answer, true), moment, devices: devicesOf(life) }
}

async function pageOf(life: SimulatedLife, name: string, fromMs: number, toMs: number): Promise<Page> {
  const answer = hintsIn(await life.incidents.list({ fromMs, toMs, limit: 1000 }))
  const moment = { nowMs: life.node.nowMs, toMs, tense: 'past', zone: 'utc' } as const
  return { name, answer, seen: momentHints(answer, false), moment, devices: devicesOf(life) }
}

/** The devices as the page has them: none has left at the moments that are looked at. */
function devicesOf({ node }: SimulatedLife): DeviceInfo[] {
  return node.devices.list().flatMap((device): DeviceInfo[] => {
    const { kind, goneMs: _goneMs, isSimulated: simulated, about: _about, ...rest } = device
    if (kind !== 'gpu' && kind !== 'nic') return []
    return [{ ...rest, kind, simulated, state: 'present', claims: new Map() } as unknown as DeviceInfo]
  })
}

/** When the samples of each scenario told of it, read back from the store. Times in milliseconds. */
async function tellsOf(life: SimulatedLife, cases: readonly ScenarioCase[], fromMs: number, toMs: number) {
  const told = new Map<string, readonly number[]>()
  for (const { name, device, tell } of cases) {
    if (tell !== undefined) told.set(name, timesOf(await life.query(tell, fromMs, toMs), device, tell, life))
  }
  return told
}

function timesOf({ times, results }: QueryAnswer, id: string | undefined, tell: Tell, life: SimulatedLife): number[] {
  const own = life.node.devices.list().find((device) => device.id === id)
  const labelsOf = own === undefined ? [] : [own.labels, ...Object.values(own.series ?? {})]
  const has = (labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>) =>
    Object.entries(wanted).every(([label, value]) => label === 'simulated' || labels[label] === value)
  const series = (results[0]?.series ?? []).filter(({ labels }) => has(labels, tell.labels ?? {}))
  const isOwn = ({ labels }: (typeof series)[number]) => labelsOf.some((wanted) => has(labels, only(wanted, labels)))
  const struck = own === undefined ? series : series.filter(isOwn)
  const others = series.filter((one) => !struck.includes(one))
  return [...times].filter((_, at) => {
    const near = (values: Float64Array) =>
      values.subarray(Math.max(0, at - 4), at + 1).findLast((v) => !Number.isNaN(v))
    const siblings = others.flatMap(({ values }) => near(values) ?? [])
    return struck.some(({ values }) => tell.holds(near(values), siblings))
  })
}

/** The labels that a series has: those of a device may be more. */
function only(wanted: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>) {
  const shared = Object.entries(wanted).filter(([label]) => label !== 'simulated' && labels[label] !== undefined)
  return shared.length === 0 ? { none: 'such' } : Object.fromEntries(shared)
}
