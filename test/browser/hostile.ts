import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSound } from './axe.ts'
import { SCREENS, takePicture, untilDrawn } from './browser.ts'

/** A name that is HTML. Its script would be an error of the page, because nobody defines the function. */
export const IMAGE = '<img src=x onerror=hacked()>'
/** A name without a place to break. */
export const LONG = 'w'.repeat(300)
/** The longest name of a pod in Kubernetes. Unit: characters. */
const POD_NAME_LENGTH = 253
/** Characters without a shape: they turn the order of others, end a text in C, or hide in a name. */
const INVISIBLE = '\u202e\u0000\b\u200b'

/** A name of a stranger with everything that could disguise it or break a page. `word` tells it from others. */
export function hostileName(word: string): string {
  return `${word}${IMAGE} ${INVISIBLE}\n${LONG}`
}

/** As long a hostile name as a pod may have: a longer one has no page. */
export function hostilePodName(word: string): string {
  return hostileName(word).slice(0, POD_NAME_LENGTH)
}

/**
 * Checks a page with names of a stranger on both screens: names are text, each character is visible, and nothing
 * overlaps or makes the page wider. It is left at a desk.
 */
export async function assertTame(t: TestContext, page: Page, name: string): Promise<void> {
  for (const screen of ['phone', 'desk'] as const) {
    await page.setViewportSize(SCREENS[screen])
    await untilDrawn(page)
    await takePicture(t, page, `hostile-${name}-${screen}`)
    const text = await page.locator('body').innerText()
    for (const character of INVISIBLE) {
      const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
      assert.ok(!text.includes(character), `${name} has U+${code}`)
    }
    assert.equal(await page.locator('main img, header img, nav img').count(), 0)
    const overPx = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(overPx <= 0, `${name} is ${overPx} px too wide at ${SCREENS[screen].width}`)
    assert.deepEqual(await overlappingCells(page), [], `a cell of ${name} lies over its neighbour`)
  }
  await assertSound(page)
}

/** Texts of cells and facts whose content lies over that of the next in their row. */
export function overlappingCells(page: Page): Promise<string[]> {
  return page.locator('main .table :is(th, td), main .fact').evaluateAll((cells) =>
    cells.flatMap((cell) => {
      const next = cell.nextElementSibling?.getBoundingClientRect()
      const range = document.createRange()
      range.selectNodeContents(cell)
      // A cell that hides the end of its text overlaps nothing.
      const box = getComputedStyle(cell).overflow === 'visible' ? range : cell
      const own = box.getBoundingClientRect()
      const isBeside = next !== undefined && next.width > 0 && next.top < own.bottom && next.bottom > own.top
      return isBeside && own.right > next.left + 1 ? [(cell as HTMLElement).innerText.slice(0, 40)] : []
    }),
  )
}
