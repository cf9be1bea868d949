import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { IncidentsAnswer } from '@sonde/sdk/api'
import { eventsIn } from '../../packages/agent/test/events-in.ts'
import { setUpWeb } from '../../scripts/setup.mjs'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, SHOW_LIMIT_MS, startBrowser, takePicture } from './browser.ts'

const MAIN = fileURLToPath(new URL('event-main.ts', import.meta.url))
/** An event opens or ends so often. Unit: milliseconds. */
const AUTO_MS = 4_000
/** What a device of the test counts: a million a sample, every 100 µs. Unit: GB/s. */
const RATE = '10.0'

test(
  'an event of a real agent opens, grows, ends, and shows single samples',
  needs('chromium-headless-shell'),
  async (t) => {
    assert.ok(await setUpWeb(), 'the page could not be built')
    const dir = temporaryDir()
    t.after(() => dir.remove())
    const sonde = await startSonde([String(AUTO_MS)], { main: MAIN, env: { SONDE_TRACEBACK_DIR: dir.path } })
    t.after(() => sonde.stop())
    const browser = await startBrowser()
    t.after(() => browser.close())
    const page = await browser.newPage({ viewport: SCREENS.desk })
    page.setDefaultTimeout(SHOW_LIMIT_MS)
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error.stack)))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))

    await page.goto(`${sonde.address}/incidents`)
    // The first event opens while the page is open: nobody reloads it.
    const link = page.locator('.incident-table tbody tr', { hasText: 'Open' }).getByRole('link', { name: 'auto' })
    await link.click()
    await page.getByText('Its rule holds.').waitFor()
    const lane = page.locator('.lane-row', { hasText: 'bytes_total' }).filter({ hasText: 'e0' })
    let seen = ''
    await until(
      () => `the increase a second, which is ${RATE}, and was last shown as ${seen}`,
      SHOW_LIMIT_MS,
      async () => {
        seen = await lane.locator('.lane-reading').innerText()
        return seen === RATE
      },
    )
    await page.getByText('The rule no longer holds.').first().waitFor()

    const { events } = eventsIn(await ask<IncidentsAnswer>(sonde, '/api/v1/incidents?kind=event&state=ended'))
    const shown = Number(decodeURIComponent(new URL(page.url()).pathname).split(':').at(-1))
    const event = events.find(({ id }) => id === shown)
    assert.ok(event?.window && event.endMs !== undefined, 'the event that is shown is closed')
    await until('the whole window', SHOW_LIMIT_MS, async () =>
      (await page.locator('main').innerText()).replace(/\D/g, '').includes(String(event.samples)),
    )
    await page.locator('.lanes-body').focus()
    await page.keyboard.press('[')
    for (let turn = 0; turn < 11; turn++) await page.keyboard.press('+')
    await lane.locator('.lane-button').click()
    await page.getByText(/\d+\ssamples in view/u).waitFor()
    const values = await page.locator('.samples-table tbody td:nth-child(3)').allInnerTexts()
    assert.ok(
      values.length > 5 && values.every((value) => value === RATE),
      `each sample is as it was counted: ${values}`,
    )
    await takePicture(t, page, 'event-real')
    // What is scrolled half below the bar is no small target.
    await page.evaluate(() => scrollTo(0, 0))
    await assertSound(page)
    await page.goto('about:blank')
    assert.deepEqual(problems, [])
  },
)
