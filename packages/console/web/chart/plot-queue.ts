/** Small plots are made together for so long. Unit: milliseconds. */
const BUDGET_MS = 16

const waiting: (() => void)[] = []
let isFree = true

/**
 * Makes plots frame by frame and the first at once, so that a page of many charts shows it early and reacts to the
 * pointer. Returns a function that cancels waiting work.
 */
export function queuePlot(work: () => void): () => void {
  if (isFree) {
    isFree = false
    afterFrame(next)
    work()
  } else waiting.push(work)
  return () => {
    const at = waiting.indexOf(work)
    if (at >= 0) waiting.splice(at, 1)
  }
}

function next(): void {
  if (waiting.length === 0) {
    isFree = true
    return
  }
  afterFrame(next)
  const endMs = performance.now() + BUDGET_MS
  do waiting.shift()?.()
  while (waiting.length > 0 && performance.now() < endMs)
}

/** Once the frame is painted: what an animation frame itself does would hold it up. */
function afterFrame(work: () => void): void {
  requestAnimationFrame(() => setTimeout(work))
}
