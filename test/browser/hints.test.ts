import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { type Stage, startStage, takePicture, untilDrawn } from './browser.ts'
import { SCENARIO_CASES, type ScenarioCase, type Tell } from './scenario-cases.ts'

/**
 * From the sample that shows a scenario to the sample since which its hint is open, whatever the machine does
 * meanwhile.
 */
const HINT_LIMIT_MS = 3000
/** How long the page is waited for. */
const PAGE_LIMIT_MS = 60_000
/** Some scenarios begin slowly: an optic ages, air warms up. */
const TELL_LIMIT_MS = 300_000
/** How long a page is watched on which nothing may change. */
const QUIET_MS = 20_000
/** What comes after the first change must strike no other device. */
const AFTER_MS = 8000
/** Rates need two samples, and a rule that compares with before needs a before. */
const WARM_UP_SAMPLES = 15

const STEP_MS = 500
/** A value may be as old as two periods of its source, in steps, before it is one that ended. */
const NEWEST_STEPS = 5

interface Device {
  readonly id: string
  readonly kind: string
  readonly rail: number | null
  readonly labels: Readonly<Record<string, string>>
  readonly series?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

interface Answer {
  readonly results: readonly {
    readonly series: readonly {
      readonly labels: Readonly<Record<string, string>>
      readonly values: readonly (number | null)[]
    }[]
  }[]
}

interface OpenHint {
  readonly rule: string
  readonly sinceMs: number
}

/** What the page has shown so far, noted by a script in the page. */
interface Seen {
  /** Whether the sentence at the top was ever not calm. */
  readonly isTroubled: boolean
  /** Tiles that were ever marked. */
  readonly tiles: readonly string[]
}

test('each scenario changes the overview, at its device and at no other', {
  ...needs('chromium-headless-shell'),
  // Each node mostly waits for its scenarios to go on.
  concurrency: 4,
}, async (t) => {
  await Promise.all(
    SCENARIO_CASES.map((cases) =>
      t.test(`node with ${namesOf(cases)}`, { concurrency: cases.length }, (t) => meet(t, cases)),
    ),
  )
})

const namesOf = (cases: readonly ScenarioCase[]): string => cases.map(({ name }) => name).join(', ')

/** A node on which some scenarios run at a time: each is seen, and nothing but what they strike is marked. */
async function meet(t: TestContext, cases: readonly ScenarioCase[]): Promise<void> {
  const stage = await startStage(t, ['--only-simulated', '--seed', '1'])
  await stage.visit('/', async (page) => {
    await untilDrawn(page)
    await page.locator('.topology .tile.is-ok').nth(16).waitFor()
    await until('samples', TELL_LIMIT_MS, async () => (await samplesOf(stage)) >= WARM_UP_SAMPLES)
    await watch(page)
    const startedMs = Date.now()
    for (const { name, device, severity, durationS } of cases) {
      await ask(stage, '/api/v1/simulator/scenarios', { name, device, severity, durationS })
    }
    await Promise.all(
      cases.map((one) =>
        t.test(one.name, () =>
          one.tell === undefined ? page.waitForTimeout(QUIET_MS) : seeChange(page, stage, one, one.tell, startedMs),
        ),
      ),
    )
    await takePicture(t, page, `scenario-${cases[0]?.name}`)
    const { tiles } = await seen(page)
    const struck = cases.flatMap(({ tile, secondTile }) => [tile, secondTile]).filter((tile) => tile !== undefined)
    // What is about the node is about every GPU that it shows on.
    const isOfNode = cases.some(({ device, rules }) => device === undefined && rules.length > 0)
    const marked = tiles.filter((tile) => !isOfNode || struck.includes(tile) || !tile.startsWith('GPU'))
    assert.deepEqual(marked.sort(), struck.sort(), 'tiles that were marked')
    const rules = [...new Set((await hintsOf(stage)).map(({ rule }) => rule))]
    assert.deepEqual(
      rules.filter((rule) => !cases.some((one) => one.rules.includes(rule))),
      [],
      'hints of other rules',
    )
  })
}

async function seeChange(page: Page, stage: Stage, one: ScenarioCase, tell: Tell, startedMs: number): Promise<void> {
  const { devices } = await ask<{ devices: Device[] }>(stage, '/api/v1/devices')
  const toldMs = await until(`${one.name} in the samples`, TELL_LIMIT_MS, async () => {
    return (await isTold(stage, devices, one, tell, startedMs)) && Date.now()
  })
  await until(`${one.name} on the page`, PAGE_LIMIT_MS, async () => {
    const { isTroubled, tiles } = await seen(page)
    return isTroubled && (one.tile === undefined || tiles.includes(one.tile))
  })
  // A hint that only formed is not kept once it is over; then the page alone has shown it.
  const lateMs = (await hintsOf(stage))
    .filter(({ rule }) => rule === one.rules[0])
    .map(({ sinceMs }) => sinceMs - toldMs)
  assert.ok(
    lateMs.every((ms) => ms <= HINT_LIMIT_MS),
    `${one.rules[0]} opened ${lateMs} ms after ${one.name} was in the samples`,
  )
  await page.waitForTimeout(AFTER_MS)
}

/** Those that are open and those that ended. */
async function hintsOf(stage: Stage): Promise<OpenHint[]> {
  const { hints, ended } = await ask<Record<'hints' | 'ended', OpenHint[]>>(stage, '/api/v1/hints')
  return [...hints, ...ended]
}

async function samplesOf(stage: Stage): Promise<number> {
  const { sources } = await ask<{ sources: { samples: number }[] }>(stage, '/api/v1/sources')
  return sources[0]?.samples ?? 0
}

/** Whether samples since then have shown it. The API is asked for the numbers, not for what rules make of them. */
async function isTold(
  stage: Stage,
  devices: readonly Device[],
  one: ScenarioCase,
  tell: Tell,
  startedMs: number,
): Promise<boolean> {
  const form = { fromMs: startedMs - NEWEST_STEPS * STEP_MS, toMs: Date.now(), stepMs: STEP_MS }
  const queries = [{ metric: tell.metric, function: tell.function }]
  const { results } = await ask<Answer>(stage, '/api/v1/query', { ...form, queries })
  const series = results[0]?.series ?? []
  /** The newest value that a device had at a step. */
  const newestOf = (device: Device, step: number): number | undefined =>
    series
      .filter(({ labels }) => belongs(labels, device, tell.labels))
      .flatMap(({ values }) => values.slice(step - NEWEST_STEPS, step).filter((value) => value !== null))
      .at(-1)
  const struck = devices.filter(({ id, kind, rail }) =>
    one.device === undefined ? kind === 'gpu' : id === one.device && (kind === 'gpu' || rail !== null),
  )
  const others = devices.filter(
    (device) => device.kind === struck[0]?.kind && device.rail !== null && !struck.includes(device),
  )
  const isShownAt = (step: number): boolean => {
    const siblings = others.flatMap((device) => newestOf(device, step) ?? [])
    return struck.every((device) => tell.holds(newestOf(device, step), siblings))
  }
  // What lasts a second is found also where nobody has looked for a while.
  const steps = Math.max(0, ...series.map(({ values }) => values.length))
  return (
    struck.length > 0 &&
    Array.from({ length: steps + 1 }, (_, step) => step)
      .slice(NEWEST_STEPS)
      .some(isShownAt)
  )
}

function belongs(labels: Device['labels'], device: Device, more: Device['labels'] = {}): boolean {
  const has = (wanted: Device['labels']) => Object.entries(wanted).every(([name, text]) => labels[name] === text)
  // Metrics with DCGM's names have DCGM's labels, of which only some are ours too.
  const { UUID } = device.labels
  if (UUID !== undefined && labels.UUID === UUID) return has(more)
  return has(more) && [device.labels, ...Object.values(device.series ?? {})].some(has)
}

/** Notes in the page what it shows, so that nothing is missed between two looks. */
async function watch(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: { isTroubled: boolean; tiles: string[] } = { isTroubled: false, tiles: [] }
    Object.assign(window, { seen })
    const look = (): void => {
      for (const tile of document.querySelectorAll('.topology .tile:is(.is-info, .is-warning, .is-critical)')) {
        const name = tile.querySelector('.tile-name')?.textContent ?? ''
        if (!seen.tiles.includes(name)) seen.tiles.push(name)
      }
      seen.isTroubled ||= document.querySelector('.headline:not(.is-calm)') !== null
    }
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true })
    look()
  })
}

function seen(page: Page): Promise<Seen> {
  return page.evaluate(() => (window as unknown as { seen: Seen }).seen)
}
