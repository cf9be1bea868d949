import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Incident, IncidentAnswer, IncidentsAnswer } from '@sonde/sdk/api'
import type { Locator, Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { hostileAnswer, longAnswer } from './answered-incident.ts'
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
/** The height of a list that scrolls, with its head. Unit: CSS pixels. */
const LIST_HIGHEST_PX = 720
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
        const pods = (await podsThen(stage, oldestFirst[STORM]!)).map((name) => `/pods/ml/${name}?${window}`)
        await stage.visit(pods[0] ?? '', async (page) => {
          const table = page.getByRole('region', { name: 'Table of GPUs' })
          const marks = table.getByRole('link', { name: `Affected by the incident: ${title}` })
          await until('marks on a pod', SHOW_LIMIT_MS, async () => (await marks.count()) === 2)
        })
        // The list of entities is of now: an open incident that names an entity of its own kind affects it.
        const entity = 'sim-pod-ml/trainer-0'
        const open = { ...oldestFirst[STORM], state: 'open', endMs: undefined, affected: [entity] }
        const before = (page: Page) =>
          page.route(
            ({ pathname }) => pathname === '/api/v1/incidents',
            async (route) => {
              const answer = (await (await route.fetch()).json()) as IncidentsAnswer
              await route.fulfill({ json: { ...answer, incidents: [open] } })
            },
          )
        const look = async (page: Page): Promise<void> => {
          await page
            .getByRole('row', { name: /ml\/trainer-0/ })
            .locator('.affected-mark')
            .waitFor()
          assert.equal(await page.locator('main .affected-mark').count(), 1)
        }
        await stage.visit('/entities', look, { before })
        await stage.visit(`/incidents/${id}`, async (page) => {
          const table = page.getByRole('region', { name: 'Table of devices' })
          const rows = table.getByRole('row', { name: /Affected/ })
          await until('affected devices', SHOW_LIMIT_MS, async () => (await rows.count()) === affected.length)
          // The page of a device shows what was so then, and leads back.
          await rows.getByRole('link', { name: 'GPU 0' }).click()
          await page.waitForURL(/from=.*to=/)
          await marked(page).first().click()
          await page.getByRole('heading', { level: 1, name: title }).waitFor()
        })
      },
    )

    await t.test('with the keyboard alone, and quietly, from the strip to an incident and back', async (t) => {
      const walk = async (page: Page): Promise<void> => {
        await untilDrawn(page)
        const strip = page.getByRole('slider', { name: /^Time, with 12 incidents/ })
        await strip.focus()
        await page.keyboard.press('ArrowLeft')
        const newest = oldestFirst.at(-1)!
        const found = page.getByRole('region', { name: 'Incidents' }).getByRole('link', { name: newest.title })
        await found.waitFor()
        assert.match((await strip.getAttribute('aria-valuetext')) ?? '', /UTC$/)
        await found.focus()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: newest.title }).waitFor()
        await untilDrawn(page)
        // An incident that is over says nothing to a screen reader while it is read.
        await page.evaluate(watchLiveRegions)
        // What a page holds is reached by headings, and each has another name.
        const headings = await page.locator('main :is(h1, h2, h3)').allInnerTexts()
        for (const heading of ['The signal of the rule', 'Devices', 'What else moved', 'Records', 'Notes'])
          assert.ok(headings.includes(heading), `${heading} is no heading`)
        assert.ok(await page.evaluate(() => document.getAnimations().length === 0), 'something moves')
        await assertSound(page)
        const seen = page.getByRole('button', { name: 'Acknowledge' })
        const adjust = await seen.evaluate((button) => getComputedStyle(button).forcedColorAdjust)
        assert.equal(adjust, 'none', 'the system paints over the words of the button')
        await takePicture(t, page, 'incident-forced-colours')
        assert.deepEqual(await page.evaluate(() => (window as unknown as { spoken: string[] }).spoken), [])
        await page.goBack()
        await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor()
        await strip.focus()
        await page.keyboard.press('End')
        await page.waitForURL((url) => !url.searchParams.has('from'))
      }
      const before = (page: Page) => page.emulateMedia({ forcedColors: 'active' })
      await stage.visit('/incidents', walk, { before, reducedMotion: 'reduce' })
      // Half the width is what a zoom of 200 % leaves.
      const half = { width: SCREENS.desk.width / 2, height: SCREENS.desk.height / 2 }
      const look = async (page: Page): Promise<void> => {
        await untilDrawn(page)
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0)
        await takePicture(t, page, 'incident-zoomed')
        await page.emulateMedia({ media: 'print', forcedColors: 'none' })
        for (const hidden of ['.rail', '.top-bar', '.time-strip', '.button'])
          assert.equal(await page.locator(hidden).first().isVisible(), false, `${hidden} is printed`)
        await takePicture(t, page, 'incident-printed')
        await page.emulateMedia({ media: 'screen' })
      }
      await stage.visit(`/incidents/${oldestFirst[STORM]?.id}`, look, { viewport: half })
    })

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
      const hostile = hostileAnswer(answers.get(oldestFirst[STORM]?.id ?? '')!)
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
          const saving = page.waitForEvent('download')
          await page.getByRole('button', { name: 'JSON' }).click()
          const saved = await saving
          assert.match(saved.suggestedFilename(), /^sonde-incident-[\w.-]+-simulated\.json$/)
          const json = readFileSync(await saved.path(), 'utf8')
          assert.ok(!json.includes('\u202e'), 'the file has escapes, which turn nothing')
          assert.deepEqual(JSON.parse(json).incident, hostile.incident, 'the file has the names of the server')
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

    await t.test('an incident with many effects, devices and notes keeps its page short', async (t) => {
      const { id = '' } = oldestFirst[STORM] ?? {}
      const long = longAnswer(answers.get(id)!)
      const before = (page: Page) =>
        page.route(
          ({ pathname }) => decodeURIComponent(pathname) === `/api/v1/incidents/${id}`,
          (route) => route.fulfill({ json: long }),
        )
      for (const viewport of [SCREENS.desk, SCREENS.phone]) {
        const look = async (page: Page): Promise<void> => {
          await untilDrawn(page)
          const region = (name: string) => page.getByRole('region', { name, exact: true })
          await region('Of the same cause').getByText('60 hints').waitFor()
          await region('Devices')
            .getByText(/^40 affected/)
            .waitFor()
          const highPx = async (name: string) => (await region(name).boundingBox())?.height ?? 0
          for (const name of ['Of the same cause', 'Devices', 'Notes'])
            assert.ok((await highPx(name)) < LIST_HIGHEST_PX, `${name} is ${await highPx(name)} px high`)
          assert.deepEqual(await region('Notes').locator('.incident-note-text').allInnerTexts(), [
            ...['Note 26', 'Note 27', 'Note 28', 'Note 29', 'Note 30'],
          ])
          await region('Notes').getByRole('button', { name: 'Show all 30 notes' }).click()
          await region('Notes').getByText('Note 1', { exact: true }).waitFor()
          await assertSound(page)
          await takePicture(t, page, `incident-long-${viewport.width}`)
        }
        await stage.visit(`/incidents/${id}`, look, { before, viewport })
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

/** Runs in the page: notes what live regions say from now on. */
function watchLiveRegions(): void {
  const spoken: string[] = []
  Object.assign(window, { spoken })
  const look = (changes: MutationRecord[]): void => {
    for (const { target } of changes) {
      const element = target instanceof Element ? target : target.parentElement
      const region = element?.closest('[aria-live="polite"], [aria-live="assertive"], [role="status"], [role="alert"]')
      if (region) spoken.push(region.textContent ?? '')
    }
  }
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
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
    const chart = page
      .locator('.chart-column')
      .getByRole('region', { name: `${title} Step time beside the fabric` })
      .getByRole('group')
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
