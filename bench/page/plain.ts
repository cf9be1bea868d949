import type { Browser, Page } from 'playwright-core'
import { tasksDuring } from './trace.ts'

const LINE_COUNT = 100
const POINT_COUNT = 5_760

/**
 * The peer: a blank page that draws 100 lines of 5 760 points into a canvas, and nothing else. It takes more or less
 * time on another machine, as the page does. Unit: milliseconds of the main thread.
 */
export async function plainDrawingMs(browser: Browser): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    const page = await context.newPage()
    // What is compiled for the first drawing does not count.
    await draw(page)
    const tasks = await tasksDuring(browser, page, () => draw(page))
    return tasks.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  } finally {
    await context.close()
  }
}

async function draw(page: Page): Promise<void> {
  await page.evaluate(
    ([lines, points]) => {
      const canvas = document.createElement('canvas')
      Object.assign(canvas, { width: 1300, height: 400 })
      document.body.replaceChildren(canvas)
      const context = canvas.getContext('2d')
      if (context === null) throw new Error('there is no canvas')
      for (let line = 0; line < lines; line++) {
        context.beginPath()
        for (let point = 0; point < points; point++) {
          const y = 200 + 190 * Math.sin(line + point / 40) * Math.cos(point * 1.7)
          context.lineTo((point / points) * canvas.width, y)
        }
        context.stroke()
      }
      return new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    },
    [LINE_COUNT, POINT_COUNT] as const,
  )
}
