import { createValueStore, useStore } from './value-store.ts'

/** Server time minus this machine's time, in milliseconds, from the quickest of the recent readings. */
let offsetMs = 0
let offsetSpreadMs = Number.POSITIVE_INFINITY

/**
 * Learns the server's clock from an answer that was asked for at `askedMs` and came at `cameMs` (both of this machine).
 *
 * The fastest exchange is the most exact. Its weight fades, so that later changes of the clock are followed.
 */
export function learnServerClock(serverMs: number, askedMs: number, cameMs: number): void {
  const spreadMs = (cameMs - askedMs) / 2
  const candidateMs = serverMs - (askedMs + cameMs) / 2
  offsetSpreadMs *= 1.2
  if (spreadMs > offsetSpreadMs && Math.abs(candidateMs - offsetMs) < 1_000) return
  offsetSpreadMs = Math.max(spreadMs, 1)
  offsetMs = candidateMs
}

/** The server's time now, milliseconds since the epoch. */
export function serverNowMs(): number {
  return Date.now() + offsetMs
}

let lastHeardMs = 0

/** Records that a message of the server arrived. */
export function hear(): void {
  lastHeardMs = serverNowMs()
}

/** Time of the last message of the server, by its clock; 0 before the first. */
export function heardMs(): number {
  return lastHeardMs
}

/** Least age of stale samples, because a source answers a little after its interval. Unit: milliseconds. */
const STALE_MIN_MS = 4_000
const STALE_AFTER_STEPS = 2

/** Age at which the newest sample counts as stale. Unit: milliseconds. */
export function staleAfterMs(stepMs: number): number {
  return Math.max(STALE_AFTER_STEPS * stepMs + 1_000, STALE_MIN_MS)
}

const second = createValueStore(floorTo(Date.now(), 1_000))
/** Right ends of charts: of charts updated every second, and of faster charts. */
const EDGES = {
  steady: { unitMs: 1_000, store: createValueStore(second.get()), pointsMs: 0 },
  fast: { unitMs: 100, store: createValueStore(second.get()), pointsMs: 0 },
}
let timer: ReturnType<typeof setTimeout> | undefined

/** Time after which charts move without new points. Unit: milliseconds. */
const POINTS_AWAITED_MS = 1_500

function floorTo(timeMs: number, unitMs: number): number {
  return Math.floor(timeMs / unitMs) * unitMs
}

function edgeOf(stepMs: number): (typeof EDGES)['steady'] {
  return stepMs < 1_000 ? EDGES.fast : EDGES.steady
}

/** Moves the live edge of charts with this step together with new points, so that both cost one drawing. */
export function moveEdge(stepMs: number): void {
  const edge = edgeOf(stepMs)
  edge.pointsMs = Date.now()
  edge.store.set(floorTo(serverNowMs(), edge.unitMs))
}

/** Ticks on the second of the server's clock; stands still in a hidden tab. */
export function startSecondTicks(): void {
  const tick = (): void => {
    clearTimeout(timer)
    const nowMs = serverNowMs()
    if (!document.hidden) {
      second.set(floorTo(nowMs, 1_000))
      for (const { store, pointsMs } of Object.values(EDGES)) {
        if (Date.now() - pointsMs > POINTS_AWAITED_MS) store.set(second.get())
      }
    }
    timer = setTimeout(tick, 1000 - (nowMs % 1000) + 5)
  }
  document.addEventListener('visibilitychange', tick)
  tick()
}

/** The server's time, renewed on every full second. */
export function useSecond(): number {
  return useStore(second)
}

/** The right end of live charts with this step: the arrival of the newest points, or now if none arrive. */
export function useEdge(stepMs: number): number {
  return useStore(edgeOf(stepMs).store)
}
