import type { ReactNode } from 'react'
import { FilterInput } from './filter-input.tsx'
import { PresentCaption } from './present-caption.tsx'

interface PanelProps {
  /** Id of the heading. */
  readonly id: string
  readonly title: string
  readonly caption?: string | undefined
  /** Whether the panel shows the present only, whatever the window of the page is. */
  readonly isPresent?: boolean
  /** Label of a field that filters the panel. Default: no field. */
  readonly filter?: string
  /** More of the head, after the caption. */
  readonly more?: ReactNode
  readonly className?: string
  readonly children?: ReactNode
}

/** A panel with a heading and a line below it. */
export function Panel({
  id,
  title,
  caption = '',
  isPresent = false,
  filter,
  more,
  className = '',
  children,
}: PanelProps) {
  return (
    <section className={`panel ${className}`.trim()} aria-labelledby={id}>
      <header className={filter === undefined ? 'panel-head has-line' : 'panel-head has-line is-centred'}>
        <h2 id={id} className="panel-title">
          {title}
        </h2>
        {isPresent && <PresentCaption>{caption}</PresentCaption>}
        {!isPresent && caption !== '' && <span className="panel-caption">{caption}</span>}
        {filter !== undefined && <FilterInput label={filter} />}
        {more}
      </header>
      {children}
    </section>
  )
}
