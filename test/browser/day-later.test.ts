import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident, IncidentAnswer, IncidentsAnswer } from '@sonde/sdk/api'
import type { Locator, Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, SHOW_LIMIT_MS, type Stage, startStage, takePicture, untilDrawn } from './browser.ts'
import { overlappingCells } from './hostile.ts'
import { assertTold, TOLD } from './told-numbers.ts'
import { fillYesterday } from './yesterday.ts'

/** The node stopped almost a day ago: the strip shows a day. */
const AGO_MS = 22 * 3_600_000
/** A node of this seed has these twelve faults, one after the other, in an hour. The first is the oldest. */
const SEED = 10_306
const LENGTH_S = 3_720
const RULES = [
  ...['congestion', 'stuck_collective', 'pcie_downtrain', 'pfc_source', 'noisy_neighbour', 'retransmission_storm'],
  ...['congestion', 'thermal_throttle', 'straggler', 'data_stall', 'power_brake', 'link_ber'],
]
/** Place of the retransmission storm; its training is slow meanwhile. Seconds before the end of the node. */
const STORM = 5
const TRAINING = { fromS: 2_260, toS: 1_990, slowFromS: 2_151, slowToS: 2_031 }
const CLICKS_MOST = 3
const YEAR_MS = 365 * 86_400_000
/** Pods are reported at least this often. Unit: milliseconds. */
const STEP_MS = 30_000

type LabelledSeries = { readonly labels: Readonly<Record<string, string>> }
type PodsAnswer = { readonly results: readonly { readonly series: readonly LabelledSeries[] }[] }
type DevicesAnswer = { readonly devices: readonly (LabelledSeries & { readonly id: string })[] }

test(
  'a day later, each of twelve scenarios is three clicks from its samples, and its sentences are in the records',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await startStage(t, ['--only-simulated', '--seed', String(SEED)], {
      prepare: (dataDir) =>
        fillYesterday(dataDir, {
          ...{ seed: SEED, lengthS: LENGTH_S, training: TRAINING },
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
        await seeTraining(page, at === STORM)
        if (at === STORM) await takePicture(t, page, 'day-later-incident')
        await clicks.link(page.getByRole('link', { name: 'All samples of this window' }))
        await seeSamples(page, incident)
        assert.ok(clicks.count <= CLICKS_MOST, `${clicks.count} clicks`)
        await page
          .getByRole('navigation', { name: 'Pages' })
          .getByRole('link', { name: /^Incidents/ })
          .click()
      }
    })

    await t.test(
      'affected devices have a mark that leads to the incident, and the device at fault has none',
      async (t) => {
        const { id = '', title = '', device = '', affected = [], startMs = 0, endMs = 0 } = oldestFirst[STORM] ?? {}
        const window = `from=${new Date(startMs).toISOString()}&to=${new Date(endMs).toISOString()}`
        const other = affected.find((one) => one.startsWith('sim-gpu')) ?? ''
        const marked = (page: Page) =>
          page.getByRole('main').getByRole('link', { name: `Affected by the incident: ${title}` })
        for (const [path, count] of [
          [`/?${window}`, affected.length],
          [`/gpus?${window}`, affected.filter((one) => one.startsWith('sim-gpu')).length],
          [`/gpus/${other}?${window}`, 1],
          [`/fabric/${device}?${window}`, 0],
        ] as const) {
          await stage.visit(path, async (page) => {
            await untilDrawn(page)
            await until(`marks on ${path}`, SHOW_LIMIT_MS, async () => (await marked(page).count()) === count)
            if (count === 0) return
            assert.match(await marked(page).last().innerText(), /Affected/)
            assert.equal(
              new URL(
                await marked(page)
                  .first()
                  .evaluate((link: HTMLAnchorElement) => link.href),
              ).pathname,
              `/incidents/${id}`,
            )
            if (path.startsWith('/?')) await assertSound(page)
            await takePicture(t, page, `affected-${count}`)
          })
        }
      },
    )

    await t.test('an incident that nobody knows says so, and leads to those that are kept', async (t) => {
      const look = async (page: Page): Promise<void> => {
        await page.getByText('There is no incident vm:1795986693100000009.').waitFor()
        await assertSound(page)
        await takePicture(t, page, 'incident-unknown')
        await page.getByRole('link', { name: 'Incidents that are kept' }).click()
        await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor()
      }
      await stage.visit('/incidents/vm:1795986693100000009', look, { expected: /404/ })
    })

    await t.test('a pinned incident of a node that is gone, with hostile names, is read as it was', async (t) => {
      const hostile = hostileAnswer(answers.get(oldestFirst[STORM]?.id ?? ''))
      const before = (page: Page) =>
        page.route('**/api/v1/incidents/*', (route) =>
          new URL(route.request().url()).pathname.endsWith('stream')
            ? route.continue()
            : route.fulfill({ json: hostile }),
        )
      for (const viewport of [SCREENS.desk, SCREENS.phone]) {
        const look = async (page: Page): Promise<void> => {
          await page.getByText('Pinned by <img src=x onerror=hacked()>').waitFor()
          await untilDrawn(page)
          const text = await page.locator('main').innerText()
          assert.ok(!text.includes('\u202e'), 'a name turns the order of others')
          assert.equal(await page.locator('main img').count(), 0)
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          assert.ok(wide <= 0, `${wide} px too wide`)
          assert.deepEqual(await overlappingCells(page), [], 'a cell lies over its neighbour')
          await assertSound(page)
          await takePicture(t, page, `incident-hostile-${viewport.width}`)
        }
        await stage.visit('/incidents/gone:7000000000000000000', look, { before, viewport, expected: /404/ })
      }
      const incident = { ...hostile.incident, startMs: Date.now() - AGO_MS, endMs: Date.now() - AGO_MS + 1000 }
      const pins = { pins: [{ ...hostile.pin, incident }] }
      const list = async (page: Page) => {
        await page.route('**/api/v1/pins', (route) => route.fulfill({ json: pins }))
        await page.route(
          ({ pathname }) => pathname === '/api/v1/incidents',
          async (route) => {
            const answer = (await (await route.fetch()).json()) as IncidentsAnswer
            await route.fulfill({ json: { ...answer, incidents: [incident] } })
          },
        )
      }
      for (const viewport of [SCREENS.desk, SCREENS.phone]) {
        const look = async (page: Page): Promise<void> => {
          const shown = page.getByText('⟦U+0000⟧').first()
          await shown.waitFor()
          await untilDrawn(page)
          assert.match(
            (await page.locator('.time-strip-tick').first().getAttribute('title')) ?? '',
            /^<img .*⟦U\+202E⟧/,
          )
          await takePicture(t, page, `incidents-hostile-${viewport.width}`)
          await page.keyboard.press('Control+k')
          await page.getByRole('dialog').getByRole('combobox').fill('hacked')
          await page.getByRole('dialog').getByRole('option').first().waitFor()
          await takePicture(t, page, `search-hostile-${viewport.width}`)
          const text = await page.locator('body').innerText()
          assert.ok(!text.includes('\u0000') && !text.includes('\u202e'), 'a name has invisible characters')
          assert.equal(await page.locator('main img, dialog img').count(), 0)
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          assert.ok(wide <= 0, `${wide} px too wide`)
          assert.deepEqual(await overlappingCells(page), [], 'a cell lies over its neighbour')
        }
        await stage.visit('/incidents', look, { before: list, viewport })
      }
    })

    await t.test('the page of an incident stays when its agent is away', async (t) => {
      const { id = '', title = '' } = oldestFirst[STORM] ?? {}
      const look = async (page: Page): Promise<void> => {
        await untilDrawn(page)
        await stage.sonde.stop('SIGKILL')
        await page.locator('.banner').getByText('does not answer.').waitFor()
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
        await takePicture(t, page, 'incident-away')
      }
      const dark = { colorScheme: 'dark' } as const
      await stage.visit(`/incidents/${id}`, look, { ...dark, expected: /^console: Failed to load resource: net::ERR_/ })
    })
  },
)

/** An incident with texts of a stranger. Its device and its samples are gone. */
function hostileAnswer(answer: IncidentAnswer | undefined): IncidentAnswer {
  assert.ok(answer !== undefined)
  const image = '<img src=x onerror=hacked()>'
  const long = 'w'.repeat(300)
  const { incident, window, nowMs } = answer
  const [cause] = incident.hints
  assert.ok(cause !== undefined)
  const title = `${image} \u202e\u0000\n${long}`
  return {
    ...{ nowMs, window: { fromMs: window.fromMs - YEAR_MS, toMs: window.toMs - YEAR_MS } },
    incident: {
      ...incident,
      ...{ id: 'gone:7000000000000000000', node: image, title, sentence: `${long} ${image}`, device: long },
      ...{ affected: [image, `${long}\u202e`], startMs: incident.startMs - YEAR_MS, rule: long },
      hints: [{ ...cause, title, device: long, evidence: [{ metric: long, function: 'rate', matchers: [] }] }],
    },
    opened: { atMs: incident.startMs - YEAR_MS, sentence: image, value: 1 },
    notes: [{ atMs: nowMs, who: long, text: `${image}\n\u202e${long}` }],
    pin: { atMs: nowMs, who: image, records: 3, bytes: 90, isCut: true, command: `sonde read /${long}` },
  }
}

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

/** The page of the incident shows the time, the place, the number and the affected devices of the records. */
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

/** Steps that a training reported lie beside the fabric; where it reported none, a sentence tells how. */
async function seeTraining(page: Page, isReported: boolean): Promise<void> {
  const none = page.getByText('No training reported its steps in this window.')
  if (!isReported) return none.waitFor()
  for (const [title, words] of [
    ['Step time', /0\.80/],
    ['Adaptive retransmissions', /\d/],
    ['ECN marked', /\d/],
    ['PCIe writes stalled', /\d/],
  ] as const) {
    const chart = page.locator('.chart-column').getByRole('region', { name: title, exact: true }).getByRole('group')
    await until(title, SHOW_LIMIT_MS, async () => words.test((await chart.getAttribute('aria-label')) ?? ''))
  }
  assert.equal(await none.count(), 0)
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
