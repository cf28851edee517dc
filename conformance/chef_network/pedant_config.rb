# Where the server is, and who asks it. Nothing here is a secret: the suite makes its own keys.
url = ENV.fetch("CHEF_URL")
chef_server url
internal_server url
internal_account_url url
search_commit_url ENV.fetch("DUMMY_URL")
maximum_search_time 0
direct_solr_query_sleep_time 0
explicit_port_url true
server_api_version 0
include_internal false
include_version_in_status false
include_x_ops_api_info false
org(name: "pedant-testorg", create_me: true)
delete_org true
superuser_name "pivotal"
who = ->(name, more = {}) { { name: name, create_me: true, create_knife: true }.merge(more) }
requestors(
  clients: {
    admin: who["pedant_admin_client", { admin: true }],
    non_admin: who["pedant_client"],
    bad: who["bad_client", { bogus: true }],
  },
  users: {
    admin: who["pedant_admin_user", { admin: true, associate: true }],
    non_admin: who["pedant_user", { associate: true }],
    bad: who["pedant-nobody", { associate: false }],
  }
)
verify_error_messages true
ruby_users_endpoint? false
ruby_acls_endpoint? false
ruby_org_assoc? false
chef_12? true
