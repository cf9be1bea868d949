import type { ReactNode } from 'react'

interface BoxProps {
  readonly label: string
  /** Height of a box that scrolls downwards too. */
  readonly heightPx?: number
  /** Height from which a box scrolls downwards. */
  readonly heightMaxPx?: number
  readonly onScroll?: (scrolledPx: number) => void
  readonly children: ReactNode
}

/** A box that scrolls its table, with the keyboard too; the first column stays. */
export function TableBox({ label, heightPx, heightMaxPx, onScroll, children }: BoxProps) {
  return (
    <section
      className={heightPx === undefined && heightMaxPx === undefined ? 'table-box' : 'table-box is-scrolling'}
      style={{ height: heightPx, maxHeight: heightMaxPx }}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the box scrolls, and the keyboard must reach it
      tabIndex={0}
      onScroll={onScroll && ((event) => onScroll(event.currentTarget.scrollTop))}
    >
      {children}
    </section>
  )
}
