import type { Page } from 'playwright-core'

/** When a page drew into a canvas. Unit: milliseconds since the navigation. */
export interface Drawing {
  /** The first stroke of the task. */
  readonly beganMs: number
  /** The frame with it was handed to the compositor. */
  readonly paintedMs: number
}

/** Notes that the page keeps for the benchmark. */
interface Notes {
  readonly drawings: Drawing[]
  /** The last click. Unit: milliseconds since the navigation. */
  readonly clickedMs: number
}

/** Notes every click, and every task of a page that strokes lines, from outside: the page itself is as it is served. */
export async function watchDrawings(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const drawings: Drawing[] = []
    Object.assign(window, { drawings, clickedMs: 0 })
    const note = ({ timeStamp }: Event): void => void Object.assign(window, { clickedMs: timeStamp })
    addEventListener('pointerdown', note, { capture: true })
    const { stroke } = CanvasRenderingContext2D.prototype
    let isDrawing = false
    CanvasRenderingContext2D.prototype.stroke = function (this: CanvasRenderingContext2D, ...args: [Path2D?]) {
      if (!isDrawing) {
        isDrawing = true
        const beganMs = performance.now()
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel()
          // A message posted inside a frame comes after that frame was painted.
          port1.onmessage = () => {
            isDrawing = false
            drawings.push({ beganMs, paintedMs: performance.now() })
          }
          port2.postMessage(undefined)
        })
      }
      return Reflect.apply(stroke, this, args)
    }
  })
}

/** How long the first drawing of an answer took. Unit: milliseconds. */
export interface FirstDrawing {
  /** From the navigation to the painted chart: page, catalogue, question and drawing. */
  readonly sinceNavigationMs: number
  /** From the last click to the painted chart: question, answer and drawing. */
  readonly sinceClickMs: number
  /** From the end of the answer to the painted chart. */
  readonly sinceAnswerMs: number
  /** From the question to the end of the answer, as the browser saw it. */
  readonly answerMs: number
  /** The end of the answer, since the navigation. */
  readonly answeredMs: number
  /** Unit: bytes. */
  readonly answerBytes: number
}

/**
 * Waits for the first drawing after the first answer of a route since the last click, or the navigation where there was
 * none. Default: the query route.
 */
export async function firstDrawing(page: Page, route = '/api/v1/query'): Promise<FirstDrawing> {
  const handle = await page.waitForFunction((wanted) => {
    const { drawings, clickedMs } = window as unknown as Notes
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
    const answer = entries.find(
      ({ name, startTime }) => new URL(name).pathname.endsWith(wanted) && startTime >= clickedMs,
    )
    const drawing = answer && drawings.find(({ beganMs }) => beganMs >= answer.responseEnd)
    if (!answer || !drawing) return undefined
    return {
      sinceNavigationMs: drawing.paintedMs,
      sinceClickMs: drawing.paintedMs - clickedMs,
      sinceAnswerMs: drawing.paintedMs - answer.responseEnd,
      answerMs: answer.responseEnd - answer.requestStart,
      answeredMs: answer.responseEnd,
      answerBytes: answer.decodedBodySize,
    }
  }, route)
  return (await handle.jsonValue()) as FirstDrawing
}

/** Drawings so far. */
export function drawingCount(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as Notes).drawings.length)
}

/** The seconds of the wall clock, since the Unix epoch, in which something was drawn. */
export async function drawnSeconds(page: Page): Promise<ReadonlySet<number>> {
  const seconds = await page.evaluate(() => {
    const { drawings } = window as unknown as Notes
    return drawings.map(({ beganMs }) => Math.floor((performance.timeOrigin + beganMs) / 1_000))
  })
  return new Set(seconds)
}

/** Waits until more was drawn, and nothing that is awaited is still of before. */
export async function untilDrawnAgain(page: Page, before: number): Promise<void> {
  await page.waitForFunction((count) => {
    const { drawings } = window as unknown as Notes
    return drawings.length > count && document.querySelector('.chart.is-old') === null
  }, before)
}
