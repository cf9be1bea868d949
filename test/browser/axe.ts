import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type axe from 'axe-core'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

/** The small one: pages compile it anew. */
const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * Fails with one line for each place where axe finds the page unsound. A page that is sound in one colour scheme is
 * asked only for its contrast in the other: nothing else differs.
 */
export async function assertSound(page: Page, { contrastOnly = false } = {}): Promise<void> {
  // Until its code has come, a page is an outline.
  await page.locator('h1').first().waitFor()
  // A colour on its way from one scheme to the other has the contrast of neither.
  await page.evaluate(async () => {
    const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition)
    await Promise.allSettled(transitions.map(({ finished }) => finished))
  })
  // To compile it takes as long as to look at a page.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  const { violations } = await page.evaluate(
    (options): Promise<AxeResults> => (window as unknown as { axe: typeof axe }).axe.run(document, options),
    {
      runOnly: contrastOnly ? { type: 'rule', values: ['color-contrast'] } : { type: 'tag', values: RULES },
      // Places that are sound are not written down, which is most of the work.
      resultTypes: ['violations'],
    } satisfies RunOptions,
  )
  const lines = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any, all, none }) => {
      const reasons = [...any, ...all, ...none].map(({ message }) => message)
      return `${id}: ${html.slice(0, 160)}: ${reasons.join('; ')}`
    }),
  )
  assert.equal(lines.join('\n'), '')
}
