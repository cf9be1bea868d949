import { createStore, useStore } from './store.ts'

/** Server time minus this machine's time, in milliseconds, from the quickest of the recent readings. */
let offsetMs = 0
let offsetSpreadMs = Number.POSITIVE_INFINITY

/**
 * Learns the server's clock from an answer that was asked for at `askedMs` and came at `cameMs` (both of this machine).
 *
 * The quickest exchange is the most exact; its weight fades, so that a clock that is set later is followed too.
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

const second = createStore(floorToSecond(Date.now()))
const edge = createStore(second.get())
let timer: ReturnType<typeof setTimeout> | undefined
let pointsMs = 0

/** Milliseconds after which charts move without new points. */
const POINTS_AWAITED_MS = 1_500

function floorToSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000
}

/** Moves the live edge of the charts together with the points that have just come, so that both cost one drawing. */
export function moveEdge(): void {
  pointsMs = Date.now()
  edge.set(floorToSecond(serverNowMs()))
}

/** Ticks on the second of the server's clock; stands still in a hidden tab. */
export function startSecondTicks(): void {
  const tick = (): void => {
    clearTimeout(timer)
    const nowMs = serverNowMs()
    if (!document.hidden) {
      second.set(floorToSecond(nowMs))
      if (Date.now() - pointsMs > POINTS_AWAITED_MS) edge.set(second.get())
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

/** The right end of live charts: the second in which the newest points came, or now where none come. */
export function useEdge(): number {
  return useStore(edge)
}
