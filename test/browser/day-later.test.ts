import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident, IncidentAnswer, IncidentsAnswer } from '@sonde/sdk/api'
import type { Locator, Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, type Stage, startStage, takePicture, untilDrawn } from './browser.ts'
import { assertTold, TOLD } from './told-numbers.ts'
import { fillYesterday } from './yesterday.ts'

/** The node stopped almost a day ago: the strip shows a day. */
const AGO_MS = 22 * 3_600_000
/** A node of this seed has these ten faults, one after the other, in an hour. The first is the oldest. */
const SEED = 10_306
const LENGTH_S = 3_720
const RULES = [
  ...['congestion', 'stuck_collective', 'pcie_downtrain', 'pfc_source', 'noisy_neighbour', 'retransmission_storm'],
  ...['congestion', 'thermal_throttle', 'power_brake', 'link_ber'],
]
const CLICKS_MOST = 3
/** Pods are reported at least this often. Unit: milliseconds. */
const STEP_MS = 30_000

type LabelledSeries = { readonly labels: Readonly<Record<string, string>> }
type PodsAnswer = { readonly results: readonly { readonly series: readonly LabelledSeries[] }[] }
type DevicesAnswer = { readonly devices: readonly (LabelledSeries & { readonly id: string })[] }

test(
  'a day later, each of ten scenarios is three clicks from its samples, and its sentences are in the records',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await startStage(t, ['--only-simulated', '--seed', String(SEED)], {
      prepare: (dataDir) =>
        fillYesterday(dataDir, {
          ...{ seed: SEED, lengthS: LENGTH_S },
          endedMs: Math.floor((Date.now() - AGO_MS) / 1000) * 1000,
        }),
    })
    const { incidents } = await ask<IncidentsAnswer>(stage, '/api/v1/incidents?state=ended')
    const oldestFirst = incidents.toSorted((a, b) => a.startMs - b.startMs)
    assert.deepEqual(
      oldestFirst.map(({ rule }) => rule),
      RULES,
    )
    const answers = new Map<string, IncidentAnswer>()
    await t.test('every number of a sentence is among the samples of its time', async () => {
      for (const incident of oldestFirst) {
        const answer = await ask<IncidentAnswer>(stage, `/api/v1/incidents/${incident.id}`)
        answers.set(incident.id, answer)
        const sentences = [answer.opened?.sentence, answer.peak?.sentence].filter((one) => one !== undefined)
        assert.ok(sentences.length > 0, incident.title)
        let checked = 0
        for (const sentence of sentences) checked += await assertTold(stage, incident, sentence)
        assert.ok(checked >= (TOLD[incident.rule]?.length ?? 1), `${incident.rule}: ${sentences.join(' | ')}`)
      }
    })

    await stage.visit('/incidents', async (page) => {
      const ticks = page.locator('.time-strip-tick')
      await until('a tick for each incident', SHOW_LIMIT_MS, async () => (await ticks.count()) === RULES.length)
      for (const [at, incident] of oldestFirst.entries()) {
        const clicks = new Clicks(page)
        await clicks.tick(page.locator(`.time-strip-tick[title^="${incident.title},"]`))
        await page.getByText(/^In the window /).waitFor()
        await clicks.link(page.getByRole('region', { name: 'Incidents' }).getByRole('link', { name: incident.title }))
        await seeIncident(page, stage, incident, answers.get(incident.id))
        if (at === 5) await takePicture(t, page, 'day-later-incident')
        await clicks.link(page.getByRole('link', { name: 'All samples of this window' }))
        await seeSamples(page, incident)
        assert.ok(clicks.count <= CLICKS_MOST, `${clicks.count} clicks`)
        await page
          .getByRole('navigation', { name: 'Pages' })
          .getByRole('link', { name: /^Incidents/ })
          .click()
      }
    })
  },
)

/** Counts what a person clicks. */
class Clicks {
  count = 0
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  async tick(tick: Locator): Promise<void> {
    const box = await tick.boundingBox()
    assert.ok(box !== null)
    await this.#page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
    this.count++
  }

  async link(link: Locator): Promise<void> {
    await link.first().click()
    this.count++
  }
}

/** The page of the incident tells what the records tell: when, where, how bad, on whom. */
async function seeIncident(
  page: Page,
  stage: Pick<Stage, 'address'>,
  incident: Incident,
  answer?: IncidentAnswer,
): Promise<void> {
  await page.getByRole('heading', { level: 1, name: incident.title }).waitFor()
  await page.getByRole('region', { name: 'The incident' }).waitFor()
  const head = await page.getByRole('region', { name: 'What is so' }).innerText()
  const { opened, peak } = answer ?? {}
  // Equal sentences are told once, with the time of the first.
  for (const moment of opened?.sentence === peak?.sentence ? [opened] : [opened, peak]) {
    if (moment === undefined) continue
    assert.ok(head.includes(moment.sentence), `${head} lacks ${moment.sentence}`)
    assert.ok(head.includes(`${clock(moment.atMs)} UTC`), `${head} lacks ${clock(moment.atMs)}`)
  }
  const panel = page.getByRole('region', { name: 'Devices' })
  const pods = await podsThen(stage, incident)
  for (const pod of pods) await panel.getByRole('link', { name: pod, exact: true }).first().waitFor()
  assert.equal(
    pods.length > 0,
    incident.affected.some((id) => id.startsWith('sim-gpu')),
  )
  const facts = await page.getByRole('region', { name: 'The incident' }).innerText()
  assert.ok(facts.includes(clock(incident.startMs)), facts)
  const shown = page.locator('.time-strip-window')
  await until('the window on the strip', SHOW_LIMIT_MS, async () => {
    const [window, tick] = [
      await shown.boundingBox(),
      await page.locator(`.time-strip-tick[title^="${incident.title},"]`).boundingBox(),
    ]
    return window !== null && tick !== null && window.x <= tick.x && window.x + window.width >= tick.x + tick.width - 1
  })
  const chart = page.locator('section[aria-labelledby="evidence"] .chart-group').first()
  await until('the signal of the rule', SHOW_LIMIT_MS, async () =>
    /\d/.test((await chart.getAttribute('aria-label')) ?? ''),
  )
}

/** Names of pods that held an affected GPU when the incident began, by the records. */
async function podsThen(stage: Pick<Stage, 'address'>, { startMs, affected }: Incident): Promise<readonly string[]> {
  const span = { fromMs: Math.floor(startMs) - STEP_MS, toMs: Math.floor(startMs) + STEP_MS, stepMs: STEP_MS }
  const queries = [{ metric: 'pod_device_present', function: 'last' }]
  const { results } = await ask<PodsAnswer>(stage, '/api/v1/query', { ...span, queries })
  const { devices } = await ask<DevicesAnswer>(stage, '/api/v1/devices')
  const uuids = new Set(devices.filter(({ id }) => affected.includes(id)).map(({ labels }) => labels.UUID))
  const series = results[0]?.series ?? []
  return [...new Set(series.filter(({ labels }) => uuids.has(labels.UUID)).map(({ labels }) => labels.pod ?? ''))]
}

/** The explorer has samples of every signal of the incident. */
async function seeSamples(page: Page, { hints }: Incident): Promise<void> {
  await page.getByRole('heading', { level: 1, name: 'Explorer' }).waitFor()
  await untilDrawn(page)
  const signals = new URL(page.url()).searchParams.getAll('sig')
  assert.equal(signals.length, hints[0]?.evidence.length)
  const chart = page.locator('main .chart-group').first()
  await until('samples', SHOW_LIMIT_MS, async () => {
    const sentence = (await chart.getAttribute('aria-label')) ?? ''
    return /\d/.test(sentence) && !/No sample/i.test(sentence)
  })
}

function clock(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 19)
}
