import type { ReactNode } from 'react'

/** A box that scrolls its table sideways, with the keyboard too; the first column stays. */
export function TableBox({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the box scrolls, and the keyboard must reach it
    <section className="table-box" aria-label={`${label}, table`} tabIndex={0}>
      {children}
    </section>
  )
}
