import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SHOW_LIMIT_MS, shareStage, takePicture, untilDrawn } from './browser.ts'
import { chartNamed } from './chart.ts'

const TAB_LIMIT_COUNT = 80

test('everything is reached and used with the keyboard alone', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t)

  await t.test('leads past the navigation to the content', async () => {
    await stage.visit('/', async (page) => {
      await untilDrawn(page)
      await page.keyboard.press('Tab')
      assert.equal(await focusedName(page), 'Skip to content')
      await assertFocusIsSeen(page)
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      assert.ok(await page.evaluate(() => document.querySelector('main')?.contains(document.activeElement)))
    })
  })

  await t.test('goes through every page of the navigation', async () => {
    await stage.visit('/', async (page) => {
      for (const name of ['Fabric', 'Explorer', 'Sources', 'Node']) {
        await tabTo(page, page.getByRole('navigation').getByRole('link', { name, exact: name !== 'Fabric' }))
        await page.keyboard.press('Enter')
        await page.locator('.rail-item[aria-current="page"]').getByText(name).waitFor()
        await untilDrawn(page)
      }
      assert.equal(new URL(page.url()).pathname, '/')
    })
  })

  await t.test('shows where the focus is, on everything that takes it', async () => {
    await stage.visit('/', async (page) => {
      await untilDrawn(page)
      await page.getByRole('link', { name: /^lo\b/ }).waitFor()
      const seen = new Set<string>()
      for (let count = 0; count < TAB_LIMIT_COUNT; count++) {
        await page.keyboard.press('Tab')
        const name = await focusedName(page)
        if (name === '' || seen.has(name)) break
        seen.add(name)
        await assertFocusIsSeen(page)
      }
      assert.ok(seen.size >= 15, `only these took the focus: ${[...seen].join(', ')}`)
    })
  })

  await t.test('searches for a place and goes there', async (t) => {
    await stage.visit('/', async (page) => {
      await untilDrawn(page)
      await page.keyboard.press('Control+k')
      const search = page.getByRole('dialog')
      await search.waitFor()
      await page.keyboard.type('lo')
      await search.getByRole('option').first().waitFor()
      await takePicture(t, page, 'keyboard-search')
      await assertSound(page)
      await page.keyboard.press('Enter')
      await search.waitFor({ state: 'detached' })
      await page.waitForURL(/\/fabric\/lo/)
    })
  })

  await t.test('lists its keys, and gives the focus back', async () => {
    await stage.visit('/', async (page) => {
      await untilDrawn(page)
      await page.keyboard.press('?')
      await page.getByRole('dialog').getByText('Back to live').waitFor()
      await assertSound(page)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.keyboard.press('3')
      await page.waitForURL(/range=1h/)
    })
  })

  await t.test('chooses a window', async () => {
    await stage.visit('/', async (page) => {
      await untilDrawn(page)
      const choice = page.getByRole('group', { name: 'Window' }).getByRole('button', { name: '30 min' })
      await tabTo(page, choice)
      await page.keyboard.press('Enter')
      await page.waitForURL(/range=30m/)
      assert.equal(await choice.getAttribute('aria-pressed'), 'true')
    })
  })

  await t.test('moves the cursor of a chart over its samples, and says what stands there', async (t) => {
    await stage.visit('/?range=5m', async (page) => {
      await untilDrawn(page)
      const busy = chartNamed(page, 'Processors busy')
      await until('samples', SHOW_LIMIT_MS, async () => /\d\s?%/.test(await busy.sentence()))
      await tabTo(page, busy.group)
      const said = busy.group.locator('[aria-live]')
      await page.keyboard.press('ArrowLeft')
      const newest = timeSaid(await said.innerText())
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('ArrowLeft')
      assert.equal(timeSaid(await said.innerText()), newest - 2)
      assert.match(await said.innerText(), /cpu 0 [\d.]+\s%, cpu 1|cpu 0 [\d.]+\s%/)
      await page.keyboard.press('Enter')
      await page.waitForURL(/[?&]at=/)
      const card = page.locator('.chart-card')
      await card.waitFor()
      await takePicture(t, page, 'keyboard-card')
      await page.keyboard.press('Escape')
      await card.waitFor({ state: 'detached' })
      await page.keyboard.press('+')
      await page.waitForURL(/from=.*to=/)
      await page.getByText('Paused').waitFor()
    })
  })

  await t.test('turns a chart into a table with the same numbers', async () => {
    await stage.visit('/?range=5m', async (page) => {
      await untilDrawn(page)
      const busy = chartNamed(page, 'Processors busy')
      await until('samples', SHOW_LIMIT_MS, async () => /\d\s?%/.test(await busy.sentence()))
      await busy.group.press('t')
      const table = page.getByRole('region', { name: 'Processors busy as a table' })
      await table.getByRole('columnheader', { name: /Time, UTC/ }).waitFor()
      assert.ok((await table.getByRole('row').count()) > 2)
    })
  })

  await t.test('adds a signal in the explorer', async (t) => {
    await stage.visit('/explore', async (page) => {
      await untilDrawn(page)
      const field = page.getByRole('combobox', { name: /metric/i }).and(page.locator('input'))
      await tabTo(page, field)
      await page.keyboard.type('netdev_rx_bytes')
      await page.getByRole('option').first().waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(/[?&]sig=/)
      await page.getByRole('group', { name: /\d/ }).first().waitFor()
      await takePicture(t, page, 'keyboard-explorer')
    })
  })
})

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let count = 0; count < TAB_LIMIT_COUNT; count++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`Tab does not reach ${target} in ${TAB_LIMIT_COUNT} steps`)
}

/** What the focused element calls itself; empty if none has the focus. */
function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (!(element instanceof HTMLElement) || element === document.body) return ''
    const place = element.closest('section, nav, header')?.getAttribute('aria-label') ?? ''
    return (element.getAttribute('aria-label') ?? `${place} ${element.innerText}`).trim()
  })
}

/** Fails where the focused element looks as if it had no focus, or is out of sight. */
async function assertFocusIsSeen(page: Page): Promise<void> {
  const { name, outline, isInside } = await page.evaluate(() => {
    const element = document.activeElement as HTMLElement
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const box = element.getBoundingClientRect()
    return {
      name: element.outerHTML.slice(0, 120),
      outline: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth),
      isInside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    }
  })
  assert.ok(outline >= 2, `no ring around ${name}`)
  assert.ok(isInside, `out of sight: ${name}`)
}

/** The second of the day that an announcement names. */
function timeSaid(text: string): number {
  const [, hours, minutes, seconds] = /(\d\d):(\d\d):(\d\d)/.exec(text) ?? []
  assert.ok(seconds !== undefined, `no time in "${text}"`)
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}
