import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, shareStage, untilDrawn } from './browser.ts'
import { chartNamed } from './chart.ts'

test('a view is its address', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t)

  await t.test('a copied address shows the same window, cursor and zone elsewhere', async () => {
    let copied = ''
    let shown: View | undefined
    await stage.visit('/?range=5m&view=lines', async (page) => {
      const busy = await readyChart(page)
      await busy.group.press('ArrowLeft')
      await busy.group.press('Enter')
      for (let count = 0; count < 6; count++) await busy.group.press('+')
      await page.waitForURL(/from=.*to=.*at=/)
      const toMs = Date.parse(new URL(page.url()).searchParams.get('to') ?? '')
      await until('the window to be past', SHOW_LIMIT_MS, () => Date.now() > toMs + 2_000)
      await page.reload()
      await readyChart(page)
      copied = page.url().slice(stage.address.length)
      shown = await viewOf(page)
    })
    await stage.visit(copied, async (page) => {
      await untilDrawn(page)
      await until(
        'the same view',
        SHOW_LIMIT_MS,
        async () => JSON.stringify(await viewOf(page)) === JSON.stringify(shown),
      )
      assert.equal(page.url(), stage.address + copied)
    })
  })

  await t.test('the explorer keeps its signals, function and step in the address', async () => {
    const address = '/explore?range=5m&sig=rate:netdev_rx_bytes_total:device=lo&step=1s'
    await stage.visit(address, async (page) => {
      await untilDrawn(page)
      await page.getByRole('group', { name: /lo/ }).first().waitFor()
      await page.reload()
      await page.getByRole('group', { name: /lo/ }).first().waitFor()
      assert.equal(page.url(), stage.address + address)
    })
  })

  await t.test('back and forward go through windows and pages', async () => {
    await stage.visit('/?range=5m', async (page) => {
      await untilDrawn(page)
      const windows = page.getByRole('group', { name: 'Window' })
      await windows.getByRole('button', { name: '1 h' }).click()
      await page.waitForURL(/range=1h/)
      await page.getByRole('navigation').getByRole('link', { name: 'Fabric' }).click()
      await page.waitForURL(/\/fabric\?range=1h/)
      await page.goBack()
      assert.match(page.url(), /\/\?range=1h$/)
      await page.goBack()
      assert.match(page.url(), /\/\?range=5m$/)
      await windows.locator('button[aria-pressed="true"]', { hasText: '5 min' }).waitFor()
      await page.goForward()
      await windows.locator('button[aria-pressed="true"]', { hasText: '1 h' }).waitFor()
    })
  })

  await t.test('leaves live on a zoom, and comes back to it', async () => {
    await stage.visit('/?range=5m', async (page) => {
      const busy = await readyChart(page)
      await busy.group.press('+')
      // A window without samples offers the same button a second time.
      await page.getByRole('banner').getByRole('button', { name: 'Back to live' }).click()
      await page.waitForURL(/range=/)
      await page.getByText('Live', { exact: true }).waitFor()
    })
  })

  await t.test('says its time zone, and its units', async () => {
    await stage.visit(
      '/?tz=local',
      async (page) => {
        await readyChart(page)
        await page.locator('header').getByText('UTC+05:30').first().waitFor()
      },
      { timezoneId: 'Asia/Kolkata' },
    )
    await stage.visit(
      '/',
      async (page) => {
        await readyChart(page)
        await page
          .locator('header')
          .getByText(/\d\d:\d\d:\d\d\s*UTC/)
          .first()
          .waitFor()
        for (const panel of await page.locator('.chart .panel-unit').all()) {
          assert.match(await panel.innerText(), /%|B\b|\/s/)
        }
      },
      { timezoneId: 'Asia/Kolkata' },
    )
  })
})

test(
  'the theme follows the system until one is chosen, and the choice lasts',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await shareStage(t)
    await stage.visit('/', async (page) => {
      await untilDrawn(page)
      const light = await canvasColour(page)
      await page.emulateMedia({ colorScheme: 'dark' })
      assert.notEqual(await canvasColour(page), light)
      await page.emulateMedia({ colorScheme: 'light' })
      assert.equal(await canvasColour(page), light)
      await page.getByRole('button', { name: 'Dark theme' }).click()
      const dark = await canvasColour(page)
      assert.notEqual(dark, light)
      await page.reload()
      await untilDrawn(page)
      assert.equal(await canvasColour(page), dark)
    })
  },
)

test('nothing moves by itself where less motion is asked for', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t)
  await stage.visit(
    '/',
    async (page) => {
      await readyChart(page)
      const durations = await page.evaluate(() => {
        const parts = [...document.querySelectorAll('*')]
        return parts.flatMap((part) => {
          const { animationDuration, transitionDuration } = getComputedStyle(part)
          return `${animationDuration}, ${transitionDuration}`.split(', ').map(Number.parseFloat)
        })
      })
      assert.equal(Math.max(...durations), 0)
    },
    { reducedMotion: 'reduce' },
  )
})

/** What one sees of a view that does not depend on when one looks. */
interface View {
  readonly sentence: string
  readonly readouts: string
}

async function viewOf(page: Page): Promise<View> {
  const busy = page.getByRole('region', { name: 'Processors busy', exact: true })
  return {
    sentence: await chartNamed(page, 'Processors busy').sentence(),
    readouts: await busy.locator('.readouts').innerText(),
  }
}

async function readyChart(page: Page): Promise<ReturnType<typeof chartNamed>> {
  await untilDrawn(page)
  const busy = chartNamed(page, 'Processors busy')
  await until('samples', SHOW_LIMIT_MS, async () => /\d\s?%/.test(await busy.sentence()))
  return busy
}

function canvasColour(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
}
