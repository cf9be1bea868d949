import type { ReactNode } from 'react'

interface BoxProps {
  readonly label: string
  /** Height of a box that scrolls downwards too. */
  readonly heightPx?: number
  readonly onScroll?: (scrolledPx: number) => void
  readonly children: ReactNode
}

/** A box that scrolls its table, with the keyboard too; the first column stays. */
export function TableBox({ label, heightPx, onScroll, children }: BoxProps) {
  return (
    <section
      className={heightPx === undefined ? 'table-box' : 'table-box is-scrolling'}
      style={{ height: heightPx }}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the box scrolls, and the keyboard must reach it
      tabIndex={0}
      onScroll={onScroll && ((event) => onScroll(event.currentTarget.scrollTop))}
    >
      {children}
    </section>
  )
}
