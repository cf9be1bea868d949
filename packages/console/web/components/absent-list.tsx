import { Icon } from './icon.tsx'

/** A reason as a sentence: sources give words, with a file's name or a name of the kernel at their beginning. */
function sentenceOf(reason: string): string {
  const isWord = /^[a-z]+ /.test(reason)
  return (isWord ? reason.charAt(0).toUpperCase() + reason.slice(1) : reason).replace(/([^.])$/, '$1.')
}

/** What of a page cannot be had here, each with its reason. */
export function AbsentList({
  items,
}: {
  readonly items: readonly { readonly title: string; readonly reason: string }[]
}) {
  return (
    <section className="panel" aria-label="Not to be had here">
      <ul className="absent-list">
        {items.map(({ title, reason }) => (
          <li key={title}>
            <Icon name="absent" />
            <strong>{title}</strong>
            <span>Absent. {sentenceOf(reason)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
