import { asSentence } from '../format/words.ts'
import { Icon } from './icon.tsx'

/** Unavailable parts of a page, each with its reason. */
export function AbsentList({
  label = 'Not available here',
  items,
}: {
  /** Name of the list; unique on the page. */
  readonly label?: string
  readonly items: readonly { readonly title: string; readonly reason: string }[]
}) {
  return (
    <section className="panel" aria-label={label}>
      <ul className="absent-list">
        {items.map(({ title, reason }) => (
          <li key={title}>
            <Icon name="absent" />
            <strong>{title}</strong>
            <span>Absent. {asSentence(reason)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
