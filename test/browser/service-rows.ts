import type { Locator, Page } from 'playwright-core'

/** The rows of the services of an app. */
export function rowsOfServices(page: Page): Locator {
  return page.getByRole('region', { name: 'Table of services' }).locator('tbody tr')
}

/** The row of one service. */
export function rowOfService(page: Page, name: string): Locator {
  return rowsOfServices(page).filter({ has: page.getByTitle(name, { exact: true }) })
}

/** What the columns of numbers are called, in their order. */
export async function namesOfNumbers(page: Page): Promise<string[]> {
  const heads = await page.getByRole('region', { name: 'Table of services' }).locator('thead th').allInnerTexts()
  return heads.slice(1).map((head) => head.trim())
}
