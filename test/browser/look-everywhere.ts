import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSound } from './axe.ts'
import { SCREENS, takePicture } from './browser.ts'
import { cutWords } from './cut.ts'

/**
 * Looks at a page in both schemes and on both screens: axe finds nothing, and nothing scrolls sideways or is cut. It is
 * left at a desk.
 */
export async function lookEverywhere(t: TestContext, page: Page, name: string): Promise<void> {
  // The desk comes last, and not only after all looks: a page that has just become wider asks for more.
  for (const screen of ['phone', 'desk'] as const) {
    const size = SCREENS[screen]
    await page.setViewportSize(size)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await takePicture(t, page, `${name}-${screen}-${colorScheme}`)
      await assertSound(page, { contrastOnly: colorScheme === 'dark' })
    }
    const overPx = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    assert.ok(overPx <= 1, `${name} scrolls sideways by ${overPx} px at ${size.width}`)
    assert.deepEqual(await cutWords(page), [])
  }
}
