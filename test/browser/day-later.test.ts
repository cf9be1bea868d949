import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident, IncidentAnswer, IncidentsAnswer } from '@sonde/sdk/api'
import type { Locator, Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, startStage, takePicture, untilDrawn } from './browser.ts'
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

test(
  'a day later each of ten scenarios is three clicks from the strip to its samples, and every sentence is in the records',
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
      for (const [at, incident] of oldestFirst.entries())
        await t.test(`${at + 1}: ${incident.rule} on ${incident.device}`, async (t) => {
          const clicks = new Clicks(page)
          await clicks.tick(page.locator(`.time-strip-tick[title^="${incident.title},"]`))
          await page.getByText(/^In the window /).waitFor()
          await clicks.link(page.getByRole('region', { name: 'Incidents' }).getByRole('link', { name: incident.title }))
          await seeIncident(page, incident, answers.get(incident.id))
          if (at === 5) await takePicture(t, page, 'day-later-incident')
          await clicks.link(page.getByRole('link', { name: 'All samples of this window' }))
          await seeSamples(page, incident)
          assert.ok(clicks.count <= CLICKS_MOST, `${clicks.count} clicks`)
          await page
            .getByRole('navigation', { name: 'Pages' })
            .getByRole('link', { name: /^Incidents/ })
            .click()
        })
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
async function seeIncident(page: Page, incident: Incident, answer: IncidentAnswer | undefined): Promise<void> {
  await page.getByRole('heading', { level: 1, name: incident.title }).waitFor()
  await page.getByRole('region', { name: 'The incident' }).waitFor()
  const head = await page.getByRole('region', { name: 'What is so' }).innerText()
  for (const moment of [answer?.opened, answer?.peak]) {
    if (moment === undefined) continue
    assert.ok(head.includes(moment.sentence), `${head} lacks ${moment.sentence}`)
    assert.ok(head.includes(`${clock(moment.atMs)} UTC`), `${head} lacks ${clock(moment.atMs)}`)
  }
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
