import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../debian.ts'
import { assertSound } from './axe.ts'
import { SCREENS, shareStage, takePicture, untilDrawn } from './browser.ts'

const PAGES: Readonly<Record<string, string>> = {
  overview: '/',
  gpus: '/gpus',
  gpu: '/gpus/sim-gpu-3',
  nic: '/fabric/sim-nic-mlx5_3-1',
  pcie: '/pci/sim-pci-0000:5c:00.0',
}
/** The narrowest screen that pages reflow to. */
const NARROWEST = { width: 320, height: 640 }

test(
  'the pages of a simulated node are sound in light and dark, and fit every screen',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await shareStage(t, ['--only-simulated'])
    for (const [name, path] of Object.entries(PAGES)) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await t.test(`${name}, ${colorScheme}`, (t) =>
          stage.visit(path, (page) => inspect(t, page, `simulated-${name}`, colorScheme), { colorScheme }),
        )
      }
    }
  },
)

async function inspect(t: TestContext, page: Page, name: string, colours: string): Promise<void> {
  for (const screen of [SCREENS.desk, SCREENS.phone, NARROWEST]) {
    await page.setViewportSize(screen)
    await untilDrawn(page)
    await page.getByText('No such page').waitFor({ state: 'detached' })
    assert.equal(await overflowOf(page), 0, `the page scrolls sideways at ${screen.width} px`)
    if (screen === NARROWEST) return
    await takePicture(t, page, `${name}-${screen.width}-${colours}`)
    await assertSound(page, { contrastOnly: colours === 'dark' })
  }
}

/** How much wider than the screen the page is. Unit: CSS pixels. */
function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}
