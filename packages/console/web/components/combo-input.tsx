import { type KeyboardEvent, useId, useMemo, useState } from 'react'
import { type ComboOption, rankOptions } from './combo-options.ts'

/** Options that are shown at once; typing narrows them. */
const SHOWN_LIMIT_COUNT = 60

interface ComboProps {
  readonly label: string
  readonly value: string
  readonly options: readonly ComboOption[]
  readonly placeholder?: string
  readonly className?: string
  /** Whether only one of the options may be chosen. */
  readonly isStrict?: boolean
  /** Whether the list stands below the field all the time, as in a sheet made for it. */
  readonly isInline?: boolean
  /** An option made of the typed text, which comes first. */
  readonly typedOption?: (text: string) => ComboOption | undefined
  readonly onCommit: (value: string) => void
}

/** A field with completion. A choice, Enter, or leaving the field commits; Escape reverts. */
export function ComboInput(props: ComboProps) {
  const { label, value, options, placeholder, className, isStrict = false } = props
  const combo = useCombo(props)
  const listId = useId()
  const { text, isOpen, matches, active } = combo
  const shown = matches.slice(0, SHOWN_LIMIT_COUNT)
  return (
    <span className={className ? `combo ${className}` : 'combo'}>
      <input
        className="input"
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && shown[active] ? `${listId}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        value={text ?? value}
        onFocus={(event) => event.currentTarget.select()}
        onClick={combo.open}
        onChange={(event) => combo.type(event.currentTarget.value)}
        onBlur={combo.leave}
        onKeyDown={combo.onKeyDown}
      />
      <div id={listId} className="combo-list" role="listbox" aria-label={label} hidden={!isOpen}>
        {isOpen &&
          shown.map((option, order) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field has the keys
            <div
              key={option.value}
              id={`${listId}-${order}`}
              ref={order === active ? scrollIntoView : undefined}
              className="combo-item"
              role="option"
              aria-selected={order === active}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => combo.commit(option.value)}
            >
              <span className="combo-value">{option.value}</span>
              {option.note && <span className="combo-note">{option.note}</span>}
            </div>
          ))}
        {isOpen && <Rest count={matches.length} total={options.length} isStrict={isStrict} />}
      </div>
    </span>
  )
}

function Rest({
  count,
  total,
  isStrict,
}: {
  readonly count: number
  readonly total: number
  readonly isStrict: boolean
}) {
  if (count > SHOWN_LIMIT_COUNT) return <Line text={`and ${count - SHOWN_LIMIT_COUNT} more; type to narrow them`} />
  if (count > 0) return null
  if (total === 0) return <Line text="None is known." />
  return <Line text={isStrict ? 'Nothing matches.' : 'None that is live matches; Enter takes the text.'} />
}

/** A line of the list that cannot be chosen. */
function Line({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: it is disabled; the field keeps the focus
    <div className="combo-none" role="option" aria-selected={false} aria-disabled="true">
      {text}
    </div>
  )
}

function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}

function useCombo({ value, options, isStrict = false, isInline = false, typedOption, onCommit }: ComboProps) {
  const [text, setText] = useState<string>()
  const [isWanted, setOpen] = useState(false)
  const isOpen = isWanted || isInline
  const [active, setActive] = useState(-1)
  const ranked = useMemo(() => rankOptions(options, text ?? ''), [options, text])
  const typed = text === undefined ? undefined : typedOption?.(text)
  const matches = typed === undefined ? ranked : [typed, ...ranked]
  const reset = (): void => {
    setText(undefined)
    setOpen(false)
    setActive(-1)
  }
  const commit = (next: string): void => {
    reset()
    if (next !== value && (!isStrict || matches.some((option) => option.value === next))) onCommit(next)
  }
  const move = (by: number): void => {
    const count = Math.min(matches.length, SHOWN_LIMIT_COUNT)
    if (isOpen && count > 0) setActive((active + by + (active < 0 && by < 0 ? 1 : 0) + count) % count)
    setOpen(true)
  }
  const actions = new Map<string, () => void>(
    Object.entries({
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Escape: reset,
      Enter: () => {
        const chosen = matches[active]?.value ?? (isStrict && text ? matches[0]?.value : undefined)
        if (chosen !== undefined || text !== undefined) commit(chosen ?? text ?? value)
      },
    }),
  )
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = actions.get(event.key)
    // A sheet closes at Escape, and the list with it.
    if (!action || (isInline && event.key === 'Escape')) return
    event.preventDefault()
    event.stopPropagation()
    action()
  }
  return {
    text,
    isOpen,
    matches,
    active,
    commit,
    onKeyDown,
    open: () => setOpen(true),
    type: (next: string) => {
      setText(next)
      setOpen(true)
      setActive(-1)
    },
    leave: () => (text === undefined || isInline ? reset() : commit(text)),
  }
}
