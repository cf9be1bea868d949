import type { Page } from 'playwright-core'

/** Words of chart headers that are seen in part only: what is left out as a whole is not cut. */
export function cutWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isCut = (element: Element, text: DOMRect): boolean => {
      let isSeenInPart = false
      for (let box = element; box !== document.body && box.parentElement; box = box.parentElement) {
        if (getComputedStyle(box).overflow === 'visible') continue
        const { left, right, bottom } = box.getBoundingClientRect()
        // A line below the first is hidden as a whole.
        if (text.top >= bottom - 3) return false
        if (text.right > right + 1 || text.left < left - 1) isSeenInPart = true
      }
      return isSeenInPart
    }
    const words = document.querySelectorAll('.panel-title, .panel-caption, .readout-name, .readout-value, .badge')
    return [...words]
      .filter((element) => {
        const range = document.createRange()
        range.selectNodeContents(element)
        return [...range.getClientRects()].some((text) => text.width > 1 && isCut(element, text))
      })
      .map((element) => element.textContent ?? '')
  })
}
