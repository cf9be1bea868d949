import { Dialog } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { setSingleKeys, useSingleKeys } from '../state/single-keys.ts'
import { SHORTCUT_GROUPS } from './shortcuts.ts'

/** Every key of the page. */
export function KeysSheet({ onClose }: { readonly onClose: () => void }) {
  const areSingleKeysOn = useSingleKeys()
  return (
    <Dialog label="Keyboard shortcuts" className="keys-sheet" onClose={onClose}>
      <header className="dialog-head">
        <h2>Keyboard shortcuts</h2>
        <button type="button" className="button icon-button is-small" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="keys-groups">
        {SHORTCUT_GROUPS.map(({ title, rows }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <dl>
              {rows.map(({ keys, does }) => (
                <div key={does}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label className="keys-switch">
        <input
          type="checkbox"
          checked={areSingleKeysOn}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
        Single keys work outside charts and fields
      </label>
    </Dialog>
  )
}
