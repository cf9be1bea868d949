import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { IncidentsAnswer } from '@sonde/sdk/api'
import type { Page } from 'playwright-core'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, SHOW_LIMIT_MS, startStage, takePicture, untilDrawn } from './browser.ts'

const MARGIN_MS = 120_000

test('time is the way in: strip, keys and typed times', needs('chromium-headless-shell'), async (t) => {
  const stage = await startStage(t, ['--only-simulated', '--simulate-class', 'small', '--simulate-past', '20m'])
  const listed = () => ask<IncidentsAnswer>(stage.sonde, '/api/v1/incidents')
  const { startedMs } = await ask<{ startedMs: number }>(stage.sonde, '/api/v1/node')
  await until('the past to be filled', SHOW_LIMIT_MS, async () => {
    const { unknown } = await ask<IncidentsAnswer>(stage.sonde, `/api/v1/incidents?from=${startedMs - 1_100_000}`)
    return unknown.length === 0
  })
  const incidents = (await listed()).incidents.toSorted((a, b) => b.startMs - a.startMs)
  assert.ok(incidents.length >= 2, 'the past has incidents to step between')

  await t.test('an incident is pinned on its page, and listed', async () => {
    const [incident] = incidents
    await stage.visit(`/incidents/${incident?.id}`, async (page) => {
      await untilDrawn(page)
      const panel = page.getByRole('region', { name: 'Records' })
      await panel.getByRole('button', { name: 'Pin', exact: true }).click()
      await panel.getByText(/^Pinned .*records/).waitFor()
      await assertSound(page)
      await takePicture(t, page, 'incident-pinned')
    })
    await stage.visit('/incidents', async (page) => {
      await page
        .getByRole('region', { name: 'Pinned' })
        .getByText(incident?.title ?? '')
        .first()
        .waitFor()
      await takePicture(t, page, 'incidents-pinned')
    })
    assert.match(readFileSync(join(stage.dataDir, 'access', 'audit.jsonl'), 'utf8'), /"action":"incident.pin"/)
  })

  await t.test('a small screen has five items in its bar, a large one uses its width', async () => {
    const look = async (page: Page): Promise<void> => {
      await untilDrawn(page)
      const bar = page.getByRole('navigation', { name: 'Pages' })
      const shown = bar.locator('.rail-list > li:visible')
      assert.deepEqual(await shown.locator('.rail-name').allInnerTexts(), [
        ...['Node', 'Apps', 'Incidents', 'Explorer', 'More'],
      ])
      await takePicture(t, page, 'bar-390')
      await bar.getByRole('button', { name: 'More' }).click()
      await takePicture(t, page, 'bar-more-390')
      await page.getByRole('dialog').getByRole('link', { name: 'Sources' }).click()
      await until('the sources', SHOW_LIMIT_MS, () => new URL(page.url()).pathname === '/sources')
      assert.equal(await page.getByRole('dialog').count(), 0)
    }
    await stage.visit('/', look, { viewport: SCREENS.phone, colorScheme: 'dark' })
    const lookWide = async (page: Page): Promise<void> => {
      await untilDrawn(page)
      const box = await page.locator('.chart-grid').first().boundingBox()
      assert.ok(box !== null && box.x + box.width > 2450, JSON.stringify(box))
      await takePicture(t, page, 'wide-2560')
    }
    await stage.visit('/', lookWide, { viewport: { width: 2560, height: 1440 } })
  })

  await stage.visit('/', async (page) => {
    await untilDrawn(page)
    const strip = page.getByRole('slider', { name: /^Time, with/ })
    await until('a tick for each incident', SHOW_LIMIT_MS, async () => {
      return (await strip.locator('.time-strip-tick').count()) === incidents.length
    })

    await t.test('arrow keys step from incident to incident, and live is the right end', async () => {
      await strip.focus()
      for (const { startMs, endMs = 0 } of incidents.slice(0, 2)) {
        await page.keyboard.press('ArrowLeft')
        await untilWindow(page, startMs - MARGIN_MS, endMs + MARGIN_MS)
      }
      await page.keyboard.press('ArrowRight')
      await untilWindow(page, (incidents[0]?.startMs ?? 0) - MARGIN_MS, (incidents[0]?.endMs ?? 0) + MARGIN_MS)
      await page
        .getByRole('main')
        .getByText(incidents[0]?.title ?? '')
        .first()
        .waitFor()
      await takePicture(t, page, 'time-strip-incident')
      await page.keyboard.press('End')
      await until('the page to be live', SHOW_LIMIT_MS, () => windowOf(page) === undefined)
    })

    await t.test('a drag selects a window', async () => {
      const box = await strip.boundingBox()
      assert.ok(box !== null)
      const [from, to] = [
        Number(await strip.getAttribute('aria-valuemin')),
        Number(await strip.getAttribute('aria-valuemax')),
      ]
      const timeAt = (share: number) => from + share * (to - from)
      await page.mouse.move(box.x + 0.25 * box.width, box.y + 10)
      await page.mouse.down()
      await page.mouse.move(box.x + 0.5 * box.width, box.y + 10, { steps: 4 })
      await page.mouse.up()
      // The strip moves on every half minute.
      await untilWindow(page, timeAt(0.25), timeAt(0.5), 60_000)
      await page.getByRole('button', { name: 'Go live' }).click()
      await until('the page to be live', SHOW_LIMIT_MS, () => windowOf(page) === undefined)
    })

    await t.test('the field and Ctrl K take a time', async () => {
      const field = page.getByRole('textbox', { name: /^Go to a time/ })
      await field.fill('yesterday 9:10')
      await field.press('Enter')
      const atMs = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 86_400_000 + (9 * 60 + 10) * 60_000
      await untilWindow(page, atMs - MARGIN_MS, atMs + MARGIN_MS)
      await field.fill('25:00')
      await field.press('Enter')
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      const iso = new Date(startedMs - 600_000).toISOString().slice(0, 19)
      await page.keyboard.press('Escape')
      await page.locator('main').click({ position: { x: 2, y: 2 } })
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill(`${iso}Z`)
      await page.keyboard.press('Enter')
      await untilWindow(page, Date.parse(`${iso}Z`) - MARGIN_MS, Date.parse(`${iso}Z`) + MARGIN_MS)
    })
  })
})

/** The window in the address; undefined if the page is live. */
function windowOf(page: Page): { fromMs: number; toMs: number } | undefined {
  const { searchParams } = new URL(page.url())
  const [from, to] = [searchParams.get('from'), searchParams.get('to')]
  return from === null || to === null ? undefined : { fromMs: Date.parse(from), toMs: Date.parse(to) }
}

async function untilWindow(page: Page, fromMs: number, toMs: number, withinMs = 1): Promise<void> {
  const words = () => `the window ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}: ${page.url()}`
  await until(words, SHOW_LIMIT_MS, () => {
    const shown = windowOf(page)
    return shown !== undefined && Math.abs(shown.fromMs - fromMs) <= withinMs && Math.abs(shown.toMs - toMs) <= withinMs
  })
}
