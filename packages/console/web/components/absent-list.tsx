import { asSentence } from '../format/words.ts'
import { Icon } from './icon.tsx'

/** Unavailable parts of a page, each with its reason. */
export function AbsentList({
  items,
}: {
  readonly items: readonly { readonly title: string; readonly reason: string }[]
}) {
  return (
    <section className="panel" aria-label="Not available here">
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
