import { useEffect, useRef, useState } from 'react'

/**
 * A value updated at most once per `everyMs`; the last value always arrives. 0 means no delay. A value of another
 * `kind` is taken at once.
 */
export function useSeldom<T>(value: T, everyMs: number, kind: string): T {
  const [shown, setShown] = useState(value)
  const renewed = useRef({ atMs: Number.NEGATIVE_INFINITY, kind })
  useEffect(() => {
    if (everyMs === 0) return
    const renew = (): void => {
      renewed.current = { atMs: performance.now(), kind }
      setShown(value)
    }
    const dueMs = renewed.current.kind === kind ? renewed.current.atMs + everyMs : 0
    const timer = setTimeout(renew, Math.max(0, dueMs - performance.now()))
    return () => clearTimeout(timer)
  }, [value, everyMs, kind])
  return everyMs === 0 ? value : shown
}
