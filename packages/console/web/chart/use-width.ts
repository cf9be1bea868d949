import { useEffect, useState } from 'react'

/** The width of an element in CSS pixels; 0 before the first measurement. */
export function useWidth(element: HTMLElement | null): number {
  const [widthPx, setWidthPx] = useState(0)
  useEffect(() => {
    if (!element) return
    const observer = new ResizeObserver(([entry]) => setWidthPx(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(element)
    setWidthPx(element.clientWidth)
    return () => observer.disconnect()
  }, [element])
  return widthPx
}
