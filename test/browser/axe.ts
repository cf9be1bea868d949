import assert from 'node:assert/strict'
import axe, { type AxeResults, type RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Fails with one line for each place where axe finds the page unsound. */
export async function assertSound(page: Page): Promise<void> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(
    (options): Promise<AxeResults> => (window as unknown as { axe: typeof axe }).axe.run(document, options),
    { runOnly: { type: 'tag', values: RULES } } satisfies RunOptions,
  )
  const lines = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any, all, none }) => {
      const reasons = [...any, ...all, ...none].map(({ message }) => message)
      return `${id}: ${html.slice(0, 160)}: ${reasons.join('; ')}`
    }),
  )
  assert.equal(lines.join('\n'), '')
}
