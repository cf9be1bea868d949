import type { ReactNode } from 'react'
import { Link } from 'wouter'

/** The head of a page: its name, the page above it, a line that describes it, and its actions. */
export function PageHead({
  title,
  parent,
  note,
  children,
}: {
  readonly title: string
  readonly parent?: { readonly label: string; readonly href: string }
  readonly note?: ReactNode
  readonly children?: ReactNode
}) {
  return (
    <header className="page-head">
      <h1 className="page-title">
        {parent && (
          <>
            <Link href={parent.href}>{parent.label}</Link>
            <span className="page-title-stroke"> / </span>
          </>
        )}
        {title}
      </h1>
      {note && <div className="page-note">{note}</div>}
      {children && <div className="button-row page-actions">{children}</div>}
    </header>
  )
}
